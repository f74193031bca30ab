"""Audit log of actions of people and API keys that change a project, an account or a quota."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project


class AuditEntry(models.Model):
    project = models.ForeignKey(
        Project,
        on_delete=models.SET_NULL,
        related_name="audit",
        null=True,
        blank=True,
        verbose_name=_("project"),
    )
    # Project ID or e-mail address: it stays when the project or the account is deleted.
    subject = models.CharField(_("subject"), max_length=255, blank=True, default="", db_default="")
    at = models.DateTimeField(_("time"), auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("person"),
    )
    actor_key = models.CharField(_("API key"), max_length=32, blank=True)  # its prefix
    action = models.CharField(_("action"), max_length=50)  # "key.create", "capture.now", …
    detail = models.JSONField(_("details"), default=dict)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        indexes = [models.Index(fields=["project", "at"], name="audit_by_time")]

    def __str__(self) -> str:
        return f"{self.at:%F %T} {self.action}"
