"""API key; the row stores only a hash of its secret."""

from datetime import datetime, timedelta

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Value
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from projects.models.audit import MAX_ADDRESS
from projects.models.project import Project

# Names of services, as agents send them as the target of their deployment.
SERVICE_NAME = RegexValidator(
    r"\A[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?\Z",
    _(
        "Enter a service name: lower-case letters, digits, hyphens, underscores and dots, with a"
        " letter or digit first and last."
    ),
)


MAX_SERVICES = 50  # allowed services of one key


class ApiKey(models.Model):
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="api_keys", verbose_name=_("project")
    )
    name = models.CharField(_("name"), max_length=100)
    key_id = models.CharField(_("key ID"), max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)  # SHA-256, hexadecimal
    may_write = models.BooleanField(_("can send profiles"), default=True)
    may_read = models.BooleanField(_("can read profiles"), default=False)
    # Service of imported profiles that name none, such as those of OpenTelemetry's profilers.
    default_service = models.CharField(
        _("default service"), max_length=255, blank=True, default="", validators=[SERVICE_NAME]
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("created by"),
    )
    # Services whose profiles the key may send; empty: all.
    services = models.JSONField(
        _("allowed services"),
        default=list,
        db_default=Value([], models.JSONField()),
        blank=True,
    )
    expires = models.DateTimeField(_("expires"), null=True, blank=True)
    # New key of a rotation; this one expires when the overlap ends.
    replaced_by = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="replaces",
        verbose_name=_("replaced by"),
    )
    last_used = models.DateTimeField(_("last used"), null=True, blank=True)
    last_address = models.CharField(
        _("last used from"), max_length=MAX_ADDRESS, blank=True, default="", db_default=""
    )
    revoked = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def prefix(self) -> str:
        return f"fw_{self.key_id}"

    def is_active(self, now: datetime) -> bool:
        return self.revoked is None and (self.expires is None or now < self.expires)

    def expires_within(self, days: int, now: datetime) -> bool:
        """Return True for an active key that expires within so many days."""
        is_near = self.expires is not None and self.expires - now <= timedelta(days=days)
        return is_near and self.is_active(now)

    def revoke(self) -> None:
        """Revoke the key. The row is kept as a record of who used which key until when."""
        if self.revoked is None:
            self.revoked = timezone.now()
            self.save(update_fields=["revoked"])
