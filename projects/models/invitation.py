"""Invitations to a project, by e-mail or by a link."""

from datetime import datetime
from enum import Enum

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project, Role


class InvitationState(Enum):
    PENDING = "pending"
    EXPIRED = "expired"
    REVOKED = "revoked"
    USED = "used"


class MailState(models.TextChoices):
    """State of an invitation's e-mail; NONE if its link was shown to whoever invited."""

    NONE = ""
    QUEUED = "queued"
    SENT = "sent"
    FAILED = "failed"


class Invitation(models.Model):
    """Invitation of one person. Its token is not stored (projects/invitations.py)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    # Lower case; empty for a link that has no addressee.
    email = models.EmailField(blank=True, default="", db_index=True)
    role = models.CharField(max_length=10, choices=Role)
    nonce = models.CharField(max_length=32, editable=False)  # another one for each token
    token_hash = models.CharField(max_length=64, unique=True, editable=False)  # SHA-256
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    issued = models.DateTimeField()  # time of the current token
    expires = models.DateTimeField()
    language = models.CharField(max_length=10, default="en")  # of the e-mail
    mail_state = models.CharField(
        max_length=10, choices=MailState, blank=True, default=MailState.NONE
    )
    mails = models.PositiveIntegerField(default=0)  # e-mails queued so far
    revoked = models.DateTimeField(null=True, blank=True)
    used = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
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
