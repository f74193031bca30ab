"""E-mail of an invitation, as text and HTML, in the language of whoever invited."""

import logging
from smtplib import SMTPRecipientsRefused

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import timezone, translation

from projects.credentials import invitation_tokens
from projects.mail_message import render_message
from projects.models import Invitation, InvitationState, MailState

logger = logging.getLogger(__name__)


def send(invitation: int, nonce: str) -> None:
    """Send the e-mail of a token, if it is still queued.

    Raise OSError if the mail server cannot be reached or rejects the message. A rejected address
    is final.
    """
    row = Invitation.objects.select_related("project", "created_by").filter(
        pk=invitation, nonce=nonce, mail_state=MailState.QUEUED
    )
    found = row.first()
    if found is None or found.get_state(timezone.now()) is not InvitationState.PENDING:
        return
    try:
        render(found).send()
    except SMTPRecipientsRefused:
        note_failure(invitation, nonce)
        return
    row.update(mail_state=MailState.SENT)


def note_failure(invitation: int, nonce: str) -> None:
    """Mark an e-mail as not delivered, which the members page shows."""
    rows = Invitation.objects.filter(pk=invitation, nonce=nonce)
    rows.update(mail_state=MailState.FAILED)
    logger.warning("the e-mail of invitation %d was not delivered", invitation)


def render(row: Invitation) -> EmailMultiAlternatives:
    context = {
        "invitation": row,
        "project": row.project.name,
        "inviter": row.created_by,
        "url": invitation_tokens.get_url(row),
        "server": settings.FLAMEWATCH_URL,
    }
    with translation.override(row.language):
        subject = render_to_string("mail/invitation_subject.txt", context)
        return render_message("invitation", context, subject, row.email)
