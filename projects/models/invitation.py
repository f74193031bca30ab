"""Invitations to a project, by e-mail or by a link."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project, Role


class InvitationState(models.TextChoices):
    PENDING = "pending", _("pending")
    EXPIRED = "expired", _("expired")
    REVOKED = "revoked", _("revoked")
    USED = "used", _("used")


class MailState(models.TextChoices):
    """State of an invitation's e-mail; NONE if its link was shown to whoever invited."""

    NONE = "", _("none")
    QUEUED = "queued", _("queued")
    SENT = "sent", _("sent")
    FAILED = "failed", _("failed")


class Invitation(models.Model):
    """Invitation of one person. Its token is not stored (projects/invitations.py)."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="invitations", verbose_name=_("project")
    )
    # Lower case; empty for a link that has no addressee.
    email = models.EmailField(_("e-mail address"), blank=True, default="", db_index=True)
    role = models.CharField(_("role"), max_length=10, choices=Role)
    nonce = models.CharField(max_length=32, editable=False)  # another one for each token
    token_hash = models.CharField(max_length=64, unique=True, editable=False)  # SHA-256
    created = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("invited by"),
    )
    issued = models.DateTimeField(_("issued"))  # time of the current token
    expires = models.DateTimeField(_("expires"))
    language = models.CharField(max_length=10, default="en")  # of the e-mail
    mail_state = models.CharField(
        _("e-mail"), max_length=10, choices=MailState, blank=True, default=MailState.NONE
    )
    mails = models.PositiveIntegerField(default=0)  # e-mails queued so far
    revoked = models.DateTimeField(_("revoked"), null=True, blank=True)
    used = models.DateTimeField(_("used"), null=True, blank=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("used by"),
    )

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")

    def __str__(self) -> str:
        return self.email or f"{self.role} ({self.pk})"

    @property
    def is_mailed(self) -> bool:
        """Return True if only the owner of the address has got the link."""
        return self.mail_state != MailState.NONE

    def get_state(self, now: datetime) -> InvitationState:
        if self.used:
            return InvitationState.USED
        if self.revoked:
            return InvitationState.REVOKED
        return InvitationState.EXPIRED if self.expires <= now else InvitationState.PENDING
