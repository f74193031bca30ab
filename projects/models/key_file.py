"""Downloaded key file of an API key; the row stores only its public key."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.api_key import ApiKey


class KeyFile(models.Model):
    key = models.ForeignKey(
        ApiKey, on_delete=models.CASCADE, related_name="key_files", verbose_name=_("API key")
    )
    # `private_key_id` of the file and `kid` of the tokens that it signs: 40 hexadecimal digits.
    file_id = models.CharField(_("key file ID"), max_length=40, unique=True)
    public_key = models.TextField(_("public key"))  # RSA, PEM
    created = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("created by"),
    )

    class Meta:
        verbose_name = _("key file")
        verbose_name_plural = _("key files")

    def __str__(self) -> str:
        return f"{self.file_id[:8]}…"
