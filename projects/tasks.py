"""Celery tasks of accounts, projects and the audit log."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone

from projects import invitation_mail, notices
from projects.models import AuditEntry, AuthorizationCode, DeviceSignIn, Invitation, MailState
from projects.webhooks import deliveries

# Rows deleted by one statement: SQLite lets nobody else write meanwhile.
CHUNK = 1000
# Seconds before the first retry of an e-mail; each further one waits twice as long: 15 minutes in
# all, the time that a mail server takes to restart.
MAIL_RETRY_SECONDS = 30
MAX_MAIL_RETRIES = 5
# An e-mail that is still queued then has lost its task, with its process or with the broker.
MAIL_LOST_AFTER = timedelta(minutes=30)
# A closed invitation stays for a while, so that its link still tells why it does not work.
INVITATION_RETENTION = timedelta(days=30)
# Longer than the longest time before the expiry of a key at which a notice is sent.
NOTICE_RETENTION = timedelta(days=400)


@shared_task(name="projects.tasks.purge_sessions")
def purge_sessions() -> None:
    """Delete expired sessions and sign-ins of programs from the database."""
    _delete_in_chunks(Session.objects.filter(expire_date__lt=timezone.now()))
    _delete_in_chunks(DeviceSignIn.objects.filter(expires__lt=timezone.now()))
    _delete_in_chunks(AuthorizationCode.objects.filter(expires__lt=timezone.now()))


@shared_task(name="projects.tasks.send_invitation", bind=True, max_retries=MAX_MAIL_RETRIES)
def send_invitation(task: Any, invitation: int, nonce: str) -> None:
    """Send the e-mail of an invitation's token (its nonce), again if the mail server fails."""
    try:
        invitation_mail.send(invitation, nonce)
    except OSError as error:  # of the network or, as smtplib's are, of the server
        if task.request.retries >= MAX_MAIL_RETRIES:
            invitation_mail.note_failure(invitation, nonce)
            return
        raise task.retry(
            exc=error, countdown=MAIL_RETRY_SECONDS * 2**task.request.retries
        ) from error


@shared_task(name="projects.tasks.send_lost_invitations")
def send_lost_invitations() -> None:
    """Send the e-mails whose tasks were lost."""
    before = timezone.now() - MAIL_LOST_AFTER
    lost = Invitation.objects.filter(mail_state=MailState.QUEUED, issued__lt=before)
    for pk, nonce in lost.filter(revoked=None, used=None).values_list("pk", "nonce"):
        send_invitation.delay(pk, nonce)


@shared_task(name="projects.tasks.purge_invitations")
def purge_invitations() -> None:
    """Delete invitations that were closed or have expired INVITATION_RETENTION ago."""
    before = timezone.now() - INVITATION_RETENTION
    closed = Q(used__lt=before) | Q(revoked__lt=before) | Q(expires__lt=before)
    _delete_in_chunks(Invitation.objects.filter(closed))


@shared_task(name="projects.tasks.send_notices")
def send_notices() -> None:
    """Tell owners and admins what is new about quotas and API keys."""
    notices.send_notices()
    notices.delete_old(timezone.now() - NOTICE_RETENTION)
    deliveries.delete_old(timezone.now())


@shared_task(name="projects.tasks.deliver_webhooks")
def deliver_webhooks() -> None:
    """Send the messages to webhooks that are due."""
    deliveries.send_due(timezone.now())


@shared_task(name="projects.tasks.purge_audit_log")
def purge_audit_log() -> None:
    """Delete entries of the audit log that are older than settings.AUDIT_DAYS."""
    before = timezone.now() - timedelta(days=settings.AUDIT_DAYS)
    while AuditEntry.objects.delete_expired(before, CHUNK) == CHUNK:
        pass


def _delete_in_chunks(rows: QuerySet[Any]) -> None:
    while keys := list(rows.values_list("pk", flat=True)[:CHUNK]):
        rows.model.objects.filter(pk__in=keys).delete()
