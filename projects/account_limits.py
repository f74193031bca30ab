"""Limits on the projects of an account, and on members, invitations, keys and views of a project.

Each check locks the row that has the limit until the end of the caller's transaction, so that
concurrent requests cannot exceed it together. A limit only stops additions: accounts and projects
that already exceed it, because it was lowered, stay as they are.
"""

from datetime import timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from projects.models import (
    AccessToken,
    ApiKey,
    AuditEntry,
    Invitation,
    KeyFile,
    Member,
    Project,
    Role,
    SavedView,
    User,
)

# Key files of one API key. Each is made for a person or a program that gets a file of its own;
# more of them are the work of a script.
MAX_KEY_FILES = 20
# Personal access tokens of an account, without those revoked or expired.
MAX_TOKENS = 50
# E-mails to one address within a day, from all projects: invitations must not flood a mailbox.
MAX_MAILS_PER_ADDRESS = 10
INVITATION_ACTIONS = ("invitation.create", "invitation.resend")  # in the audit log
_DAY = timedelta(days=1)


class LimitReached(Exception):
    """Addition beyond a limit; the text names the limit and its value, and says what to do."""


def require_project(owner: User) -> None:
    """Raise LimitReached if the account owns as many projects as it may. Use a transaction."""
    # NO KEY UPDATE, here and below: inserts of rows that refer to the locked one do not wait.
    account = User.objects.select_for_update(no_key=True).get(pk=owner.pk)
    allowed = account.max_projects
    if allowed is None:
        allowed = settings.MAX_PROJECTS_PER_ACCOUNT
    count = Member.objects.filter(user=account, role=Role.OWNER).count()
    if count >= allowed:
        raise LimitReached(
            _(
                "Projects that %(email)s owns: %(count)d; the limit is %(allowed)d. Use one of"
                " them, or ask the operator of this server to raise the limit: for this account"
                " in the admin, or for all with FLAMEWATCH_MAX_PROJECTS_PER_ACCOUNT."
            )
            % {"email": account.email, "count": count, "allowed": allowed}
        )


def require_members(project: Project, added: int) -> None:
    """Raise LimitReached if the project may not get `added` more members. Use a transaction."""
    if added <= 0:
        return
    lock_project(project)
    count = Member.objects.filter(project=project.pk).count()
    if count + added > settings.MAX_MEMBERS_PER_PROJECT:
        raise LimitReached(
            _(
                "Members of %(project)s: %(count)d; the limit is %(allowed)d. Remove members, or"
                " raise FLAMEWATCH_MAX_MEMBERS_PER_PROJECT."
            )
            % {
                "project": project.name,
                "count": count + added,
                "allowed": settings.MAX_MEMBERS_PER_PROJECT,
            }
        )


def require_invitations(project: Project, actor: User, *, new: int, issued: int) -> None:
    """Raise LimitReached if `new` more invitations exceed those that may be open, or `issued`
    tokens those of a day. Use a transaction.

    The tokens of a day are counted in the audit log, of the project and of the account.
    """
    lock_project(project)
    count = Invitation.objects.filter(project=project, used=None, revoked=None).count()
    if new and count + new > settings.MAX_INVITATIONS_PER_PROJECT:
        raise LimitReached(
            _(
                "Open invitations of %(project)s: %(count)d; the limit is %(allowed)d. Revoke"
                " invitations that nobody needs, or ask the operator of this server to raise"
                " FLAMEWATCH_MAX_INVITATIONS_PER_PROJECT."
            )
            % {
                "project": project.name,
                "count": count,
                "allowed": settings.MAX_INVITATIONS_PER_PROJECT,
            }
        )
    # The account's row too: its invitations to other projects count.
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    day = AuditEntry.objects.filter(action__in=INVITATION_ACTIONS, at__gt=timezone.now() - _DAY)
    allowed = settings.INVITATIONS_PER_DAY
    count = max(day.filter(project=project).count(), day.filter(actor=actor).count())
    if count + issued > allowed:
        raise LimitReached(
            _(
                "Invitations sent within a day: %(count)d; the limit of a project and of an account"
                " is %(allowed)d (FLAMEWATCH_INVITATIONS_PER_DAY). Try again tomorrow."
            )
            % {"count": count, "allowed": allowed}
        )


def require_mail(email: str) -> None:
    """Raise LimitReached if an address has got as many invitations within a day as it may."""
    rows = Invitation.objects.filter(email=email, issued__gt=timezone.now() - _DAY)
    count = rows.aggregate(total=Sum("mails"))["total"] or 0
    if count >= MAX_MAILS_PER_ADDRESS:
        raise LimitReached(
            _(
                "Invitations that this server sent to %(email)s within a day: %(count)d; the limit"
                " is %(allowed)d. Try again tomorrow, or send a link yourself."
            )
            % {"email": email, "count": count, "allowed": MAX_MAILS_PER_ADDRESS}
        )


def require_key(project: Project) -> None:
    """Raise LimitReached if the project has all the keys in use that it may. Use a transaction."""
    lock_project(project)
    in_use = Q(expires=None) | Q(expires__gt=timezone.now())
    count = ApiKey.objects.filter(in_use, project=project, revoked=None).count()
    if count >= settings.MAX_KEYS_PER_PROJECT:
        raise LimitReached(
            _(
                "API keys of %(project)s in use: %(count)d; the limit is %(allowed)d. Revoke keys"
                " that nobody needs, or ask the operator of this server to raise"
                " FLAMEWATCH_MAX_KEYS_PER_PROJECT."
            )
            % {
                "project": project.name,
                "count": count,
                "allowed": settings.MAX_KEYS_PER_PROJECT,
            }
        )


def has_unverified_address(user: User) -> bool:
    """Return True if the account could verify an address by e-mail, and has not.

    Somebody may have signed up with the address of another person, who gets the account by a
    reset of its password. Nothing that lets the first one in afterwards may be added before.
    """
    if not settings.SENDS_MAIL:
        return False
    return not EmailAddress.objects.filter(user=user, verified=True).exists()


def require_token(user: User) -> None:
    """Raise LimitReached if the account has all the tokens that it may. Use a transaction.

    An account whose address is not verified may have none.
    """
    if has_unverified_address(user):
        raise LimitReached(
            _(
                "Verify your e-mail address first, by the link in the e-mail that you got when you"
                " signed up. The account page sends it again, under Change e-mail address."
            )
        )
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    rows = AccessToken.objects.filter(user=user, revoked=None, expires__gt=timezone.now())
    count = rows.count()
    if count >= MAX_TOKENS:
        raise LimitReached(
            _(
                "Personal access tokens of your account: %(count)d; the limit is %(allowed)d."
                " Revoke those that nothing uses."
            )
            % {"count": count, "allowed": MAX_TOKENS}
        )


def require_key_file(key: ApiKey) -> None:
    """Raise LimitReached if the key has all the key files that it may. Use a transaction."""
    ApiKey.objects.select_for_update(no_key=True).get(pk=key.pk)
    count = KeyFile.objects.filter(key=key).count()
    if count >= MAX_KEY_FILES:
        raise LimitReached(
            _(
                "Key files of “%(name)s”: %(count)d; the limit is %(allowed)d. Create another API"
                " key, and revoke this one when nothing uses it."
            )
            % {"name": key.name, "count": count, "allowed": MAX_KEY_FILES}
        )


def require_saved_view(project: Project) -> None:
    """Raise LimitReached if the project has all the saved views that it may. Use a transaction."""
    lock_project(project)
    count = SavedView.objects.filter(project=project).count()
    if count >= settings.MAX_SAVED_VIEWS_PER_PROJECT:
        raise LimitReached(
            _(
                "Saved views of %(project)s: %(count)d; the limit is %(allowed)d. Delete views"
                " that nobody needs, or ask the operator of this server to raise"
                " FLAMEWATCH_MAX_SAVED_VIEWS_PER_PROJECT."
            )
            % {
                "project": project.name,
                "count": count,
                "allowed": settings.MAX_SAVED_VIEWS_PER_PROJECT,
            }
        )


def lock_project(project: Project) -> None:
    """Lock the project's row until the end of the transaction; one not saved yet has none."""
    Project.objects.select_for_update(no_key=True).filter(pk=project.pk).first()
