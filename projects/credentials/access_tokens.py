"""Personal access tokens `fwp_<id>_<secret><checksum>`: programs act as a person, within scopes.

A token gives what both its scopes and the person's role in a project allow at that moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from common import database_pool
from common.cache import Cache, NoValue
from common.write_behind import WriteBehindBuffer
from projects import account_limits, audit
from projects.credentials import keys
from projects.credentials.authentication import Access, KeyRejected
from projects.models import AccessToken, Member, TokenScope, User
from projects.permissions import Permission, has_permission

TOKEN_PREFIX = "fwp_"  # noqa: S105  no secret
MAX_DAYS = 365  # until a token expires
NO_KEY = 0  # in place of the primary key of an API key
# Maximum delay until another process's revocation takes effect; in this process it is immediate.
SECONDS_CACHED = 15.0
MOST_TOKENS = 10_000

# The scope that a token needs for a permission of its owner.
SCOPES: dict[Permission, TokenScope] = {
    Permission.VIEW: TokenScope.READ,
    Permission.READ_AUDIT: TokenScope.READ,
    Permission.ANNOTATE: TokenScope.WRITE,
    Permission.CAPTURE: TokenScope.WRITE,
    Permission.CREATE_ALERTS: TokenScope.WRITE,
    Permission.MANAGE_KEYS: TokenScope.MANAGE,
    Permission.CHANGE_SETTINGS: TokenScope.MANAGE,
    Permission.MANAGE_PEOPLE: TokenScope.MANAGE,
    Permission.REQUEST_QUOTAS: TokenScope.MANAGE,
    Permission.MANAGE_OWNERS: TokenScope.MANAGE,
    Permission.EXPORT_PROJECT: TokenScope.MANAGE,
    Permission.DELETE_PROJECT: TokenScope.MANAGE,
}


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """Person and scopes of a valid token."""

    user: int  # User.pk
    prefix: str  # not secret: may be shown and logged
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _TokenRow:
    pk: int
    secret_hash: str
    expires: datetime
    holder: TokenHolder


class PermissionMissing(Exception):
    """Permission that the person's role or the scopes of the token lack; the text says which."""


def create(
    user: User,
    name: str,
    scopes: Sequence[TokenScope],
    days: int,
    *,
    origin: audit.Origin = audit.NO_CLIENT,
) -> tuple[AccessToken, str]:
    """Create a token that expires after `days`; return its row and its text, shown only once.

    Raise account_limits.LimitReached if the account has as many active tokens as it may have.
    """
    text = keys.generate(TOKEN_PREFIX)
    parts = keys.parse(text, TOKEN_PREFIX)
    with transaction.atomic():
        account_limits.require_token(user)
        row = AccessToken.objects.create(
            user=user,
            name=name,
            token_id=parts.key_id,
            secret_hash=keys.hash_secret(parts.secret),
            scopes=[str(scope) for scope in scopes],
            expires=timezone.now() + timedelta(days=days),
        )
        audit.record_account(
            user,
            "token.create",
            actor=user,
            origin=origin,
            token=row.prefix,
            name=name,
            scopes=row.scopes,
            expires=row.expires.isoformat(),
        )
    return row, text


def revoke(row: AccessToken, *, origin: audit.Origin = audit.NO_CLIENT) -> None:
    """Revoke a token: immediately in this process, within SECONDS_CACHED (15 s) in others."""
    with transaction.atomic():
        rows = AccessToken.objects.filter(pk=row.pk, revoked=None)
        if not rows.update(revoked=timezone.now()):
            return
        audit.record_account(
            row.user, "token.revoke", actor=row.user, origin=origin, token=row.prefix, name=row.name
        )
        transaction.on_commit(lambda: forget(row.token_id))


def list_tokens(user: User) -> list[AccessToken]:
    """Return the tokens of a person that were not revoked, by their expiry."""
    return list(AccessToken.objects.filter(user=user, revoked=None).order_by("expires", "pk"))


def is_token(text: str) -> bool:
    return text.startswith(TOKEN_PREFIX)


async def authenticate(text: str) -> TokenHolder:
    """Return the person and the scopes of a token. Raise KeyRejected for an invalid one."""
    try:
        parts = keys.parse(text, TOKEN_PREFIX)
        row = await _tokens.get_or_load(parts.key_id)
    except (keys.MalformedKey, NoValue):
        raise _rejection() from None
    if not keys.matches(parts.secret, row.secret_hash) or row.expires <= timezone.now():
        raise _rejection()
    _last_used.note(row.pk, timezone.now())
    return row.holder


def forget(token_id: str) -> None:
    """Remove a token from the cache after it was revoked or deleted."""
    _tokens.delete(token_id)


async def find_access(holder: TokenHolder, project_id: str) -> Access | None:
    """Return what a token may do with profiles of a project; None unless its owner is a member."""
    member = await database_pool.run(find_member, holder, project_id)
    if member is None:
        return None
    return Access(
        project=member.project_id,
        project_id=project_id,
        key=NO_KEY,
        prefix=holder.prefix,
        may_write=is_allowed(holder, member.role, Permission.ANNOTATE),
        may_read=is_allowed(holder, member.role, Permission.VIEW),
        suspension=member.project.suspension_reason if member.project.suspended else None,
        user=holder.user,
    )


def find_member(holder: TokenHolder, project_id: str) -> Member | None:
    """Return the membership of the token's owner; None also if the project will be deleted."""
    visible = Member.objects.filter(project__deletion_due=None)
    rows = visible.select_related("project", "user")
    return rows.filter(user=holder.user, project__project_id=project_id).first()


def list_project_ids(holder: TokenHolder, most: int) -> list[str]:
    """Return ids of projects whose profiles the token may read, in their order; may block."""
    if TokenScope.READ not in holder.scopes:
        return []
    visible = Member.objects.filter(user=holder.user, project__deletion_due=None)
    ids = visible.order_by("project__project_id").values_list("project__project_id", flat=True)
    return list(ids[:most])


def is_allowed(holder: TokenHolder, role: str, permission: Permission) -> bool:
    return has_permission(role, permission) and SCOPES[permission] in holder.scopes


def require_permission(holder: TokenHolder, role: str, permission: Permission) -> None:
    """Raise PermissionMissing unless the role and the scopes of the token have the permission."""
    scope = SCOPES[permission]
    if scope not in holder.scopes:
        raise PermissionMissing(f"This token lacks the scope {scope}.")
    if not has_permission(role, permission):
        raise PermissionMissing(
            f"Your role in this project is {role}, which does not include: {permission.label}."
        )


def _load(token_id: str) -> _TokenRow:
    rows = AccessToken.objects.filter(token_id=token_id, revoked=None, user__is_active=True)
    row = rows.first()
    if row is None:
        raise NoValue(token_id)
    holder = TokenHolder(row.user_id, row.prefix, frozenset(row.scopes))
    return _TokenRow(row.pk, row.secret_hash, row.expires, holder)


@transaction.atomic
def _write_last_used(used: dict[int, datetime]) -> None:
    for token, time in sorted(used.items()):
        AccessToken.objects.filter(pk=token).update(last_used=time)


def _rejection() -> KeyRejected:
    return KeyRejected(
        _(
            "This personal access token is not valid: it is mistyped, unknown, expired or revoked."
            " Your account page lists your tokens and makes new ones."
        )
    )


# By the token's public id, so that a wrong secret for a cached id costs no SQL query.
_tokens: Cache[str, _TokenRow] = Cache(
    _load,
    size=MOST_TOKENS,
    seconds=SECONDS_CACHED,
    max_missing=MOST_TOKENS,
    missing_seconds=SECONDS_CACHED,
)
_last_used: WriteBehindBuffer[int, datetime] = WriteBehindBuffer(_write_last_used, max)
