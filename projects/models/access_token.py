"""Personal access token: programs act as a person; the row stores a hash of its secret."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class TokenScope(models.TextChoices):
    READ = "read", _("Read profiles, settings, usage and the audit log")
    WRITE = "write", _("Add notes, request captures")
    MANAGE = "manage", _("Manage members, invitations, API keys and settings")


class AccessToken(models.Model):
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_tokens"
    )
    name = models.CharField(_("name"), max_length=100)
    token_id = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)  # SHA-256, hexadecimal
    scopes = models.JSONField(default=list)  # of TokenScope
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    last_used = models.DateTimeField(null=True, blank=True)
    revoked = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("personal access token")
        verbose_name_plural = _("personal access tokens")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def prefix(self) -> str:
        return f"fwp_{self.token_id}"

    def is_active(self, now: datetime) -> bool:
        return self.revoked is None and now < self.expires
