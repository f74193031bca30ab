"""Invitations to a project: create, send again, revoke and accept.

Every change locks the project first, so that two people cannot use one token.
"""

import secrets
from datetime import timedelta
from enum import Enum

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from projects import account_limits, audit
from projects.audit import NO_CLIENT, Origin
from projects.credentials import invitation_tokens
from projects.credentials.keys import hash_secret
from projects.models import Invitation, InvitationState, MailState, Member, Project, Role, User
from projects.permissions import Permission, has_permission
from projects.tasks import send_invitation

MAX_ADDRESSES = 20  # of one form


class Problem(Enum):
    """Reason why a token cannot be used."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    REVOKED = "revoked"
    USED = "used"
    OTHER_ADDRESS = "other_address"  # the account's verified address is another one


class InvitationRejected(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.value)
        self.problem = problem


class InvalidInvitation(Exception):
    """Invitation that cannot be created or sent; the text gives the reason."""


_PROBLEMS = {
    InvitationState.EXPIRED: Problem.EXPIRED,
    InvitationState.REVOKED: Problem.REVOKED,
    InvitationState.USED: Problem.USED,
}


def may_invite(role: str, invited: str) -> bool:
    """Return True if the role may invite somebody as `invited`; nobody is invited as owner."""
    return has_permission(role, Permission.MANAGE_PEOPLE) and invited != Role.OWNER


def list_open(project: Project) -> list[Invitation]:
    """Return the invitations that were neither used nor revoked, newest first."""
    rows = Invitation.objects.filter(project=project, used=None, revoked=None)
    return list(rows.select_related("created_by").order_by("-issued", "-pk"))


def create(
    project: Project,
    emails: list[str],
    role: Role,
    *,
    actor: User,
    origin: Origin = NO_CLIENT,
) -> list[Invitation]:
    """Invite each address, or without addresses whoever gets the link of one invitation.

    With a mail server the addresses get an e-mail after the transaction; otherwise the caller shows
    `invitation_tokens.get_url` of each, once. Raise InvalidInvitation or LimitReached.
    """
    with transaction.atomic():
        account_limits.require_invitations(
            project, actor, new=max(1, len(emails)), issued=max(1, len(emails))
        )
        _require_inviter(project, actor, role)
        _require_new(project, emails)
        return [_create(project, email, role, actor, origin) for email in emails or [""]]


def resend(invitation: Invitation, *, actor: User, origin: Origin = NO_CLIENT) -> Invitation:
    """Issue a new token with a new time of expiry, which ends the one before.

    Raise InvalidInvitation if the invitation was used or revoked, or LimitReached.
    """
    project = invitation.project
    with transaction.atomic():
        account_limits.require_invitations(project, actor, new=0, issued=1)
        row = Invitation.objects.get(pk=invitation.pk)
        if row.get_state(timezone.now()) in {InvitationState.USED, InvitationState.REVOKED}:
            raise InvalidInvitation(_("This invitation was already used or revoked."))
        _require_inviter(project, actor, row.role)
        # Whoever issues the link answers for it: it ends when that person may invite no longer.
        row.created_by = actor
        _issue(row)
        _record(row, "invitation.resend", actor, origin)
    return row


def revoke(invitation: Invitation, *, actor: User, origin: Origin = NO_CLIENT) -> None:
    """Revoke an invitation that was not used; a second time does nothing."""
    with transaction.atomic():
        account_limits.lock_project(invitation.project)
        _revoke(Invitation.objects.filter(pk=invitation.pk), actor, origin)


def revoke_all_by_inviter(
    user: User, project: Project, *, actor: User, origin: Origin = NO_CLIENT
) -> None:
    """Revoke the open invitations of a person who may not invite any longer.

    Otherwise a removed admin could come back by a link. Use the transaction that removes the role.
    """
    _revoke(Invitation.objects.filter(project=project, created_by=user), actor, origin)


def find(token: str) -> Invitation:
    """Return the invitation of a token. Raise InvitationRejected unless it is pending."""
    if len(token) > invitation_tokens.MAX_CHARACTERS:
        raise InvitationRejected(Problem.UNKNOWN)
    return find_by_hash(hash_secret(token))


def find_by_hash(token_hash: str) -> Invitation:
    """Return the invitation of a token's hash, as `find` does."""
    visible = Invitation.objects.filter(project__deletion_due=None)
    rows = visible.select_related("project", "created_by")
    row = rows.filter(token_hash=token_hash).first()
    if row is None:
        raise InvitationRejected(Problem.UNKNOWN)
    state = row.get_state(timezone.now())
    if state is not InvitationState.PENDING:
        raise InvitationRejected(_PROBLEMS[state])
    return row


def require_address(invitation: Invitation, user: User) -> None:
    """Raise InvitationRejected unless the account has the verified address of the invitation.

    A link that was shown and not mailed is for whoever has it.
    """
    if not invitation.is_mailed:
        return
    addresses = EmailAddress.objects.filter(user=user, verified=True)
    if not addresses.filter(email__iexact=invitation.email).exists():
        raise InvitationRejected(Problem.OTHER_ADDRESS)


def accept(token: str, user: User, *, origin: Origin = NO_CLIENT) -> Member:
    """Make the account a member, and the token unusable.

    A member keeps the role, and the token stays usable. Raise InvitationRejected, or
    account_limits.LimitReached.
    """
    project = find(token).project
    with transaction.atomic():
        account_limits.lock_project(project)
        invitation = find(token)  # again: it may have been used meanwhile
        require_address(invitation, user)
        existing = Member.objects.filter(project=project, user=user).first()
        if existing is not None:
            return existing
        account_limits.require_members(project, 1)
        member = Member.objects.create(project=project, user=user, role=invitation.role)
        invitation.used, invitation.used_by = timezone.now(), user
        invitation.save(update_fields=["used", "used_by"])
        _record(invitation, "invitation.accept", user, origin)
    return member


def _require_inviter(project: Project, actor: User, role: str) -> None:
    """Check the actor's role in the transaction: it may have changed since the request began."""
    member = Member.objects.filter(project=project, user=actor).first()
    if member is None or not may_invite(member.role, role):
        raise InvalidInvitation(_("Your role does not allow this invitation any longer."))


def _require_new(project: Project, emails: list[str]) -> None:
    """Raise InvalidInvitation for addresses of members, and for those already invited."""
    members = Member.objects.filter(project=project, user__email__in=emails)
    joined = sorted(members.values_list("user__email", flat=True))
    if joined:
        sentence = _("Already members: %(emails)s.")
        raise InvalidInvitation(sentence % {"emails": ", ".join(joined)})
    open_ = Invitation.objects.filter(project=project, used=None, revoked=None, email__in=emails)
    invited = sorted(open_.values_list("email", flat=True))
    if invited:
        sentence = _("Already invited: %(emails)s. Resend or revoke these invitations.")
        raise InvalidInvitation(sentence % {"emails": ", ".join(invited)})


def _create(project: Project, email: str, role: Role, actor: User, origin: Origin) -> Invitation:
    row = Invitation(project=project, email=email, role=role, created_by=actor)
    _issue(row)
    _record(row, "invitation.create", actor, origin)
    return row


def _issue(row: Invitation) -> None:
    """Give a row a new token, save it, and queue its e-mail if there is a mail server."""
    row.nonce = secrets.token_hex(16)
    row.issued = timezone.now()
    row.expires = row.issued + timedelta(days=settings.INVITATION_DAYS)
    row.language = get_language() or settings.LANGUAGE_CODE
    row.mail_state = MailState.NONE
    if settings.SENDS_MAIL and row.email:
        account_limits.require_mail(row.email)
        row.mail_state = MailState.QUEUED
        row.mails += 1
    if row.pk is None:
        row.token_hash = row.nonce  # unique, until the row has the key that a token is made of
        row.save()
    row.token_hash = hash_secret(invitation_tokens.make(row))
    row.save()
    if row.is_mailed:
        # `robust`: without the broker the row stays queued, and a periodic task sends it.
        pk, nonce = row.pk, row.nonce
        transaction.on_commit(lambda: send_invitation.delay(pk, nonce), robust=True)


def _revoke(rows: QuerySet[Invitation], actor: User, origin: Origin) -> None:
    for row in rows.filter(used=None, revoked=None).select_related("project"):
        row.revoked = timezone.now()
        row.save(update_fields=["revoked"])
        _record(row, "invitation.revoke", actor, origin)


def _record(row: Invitation, action: str, actor: User, origin: Origin) -> None:
    audit.record(
        row.project,
        action,
        actor=actor,
        origin=origin,
        target=row.email,
        invitation=row.pk,
        role=str(row.role),
    )
