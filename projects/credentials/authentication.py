"""Authenticate API keys and their tokens, without SQL for keys that are cached."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from common.cache import Cache, NoValue
from common.write_behind import WriteBehindBuffer
from projects.credentials import keys, signed_tokens
from projects.models import ApiKey

# Maximum delay until another process's revocation takes effect; in this process it is immediate.
SECONDS_CACHED = 15.0
MOST_KEYS = 10_000
MOST_UNKNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Access:
    """Permissions of an API key: one project, to write profiles, to read them, or both."""

    project: int  # Project.pk
    project_id: str
    key: int  # ApiKey.pk
    prefix: str  # not secret: may be shown and logged
    may_write: bool
    may_read: bool
    default_service: str = ""  # of imported profiles that name none
    services: frozenset[str] = frozenset()  # that it may send; empty: all
    suspension: str | None = None  # reason, if the operator has suspended the project
    user: int | None = None  # User.pk of a member who sends something in the console

    @property
    def key_id(self) -> str:
        """Return the public id of the key (ApiKey.key_id)."""
        return self.prefix.removeprefix("fw_")


class KeyRejected(Exception):
    """Invalid API key. The text never says which part of it was wrong."""


class ProjectSuspended(Exception):
    """Upload or handshake of a project that the operator of the server has suspended."""

    def __init__(self, project_id: str, reason: str) -> None:
        because = f": {reason}" if reason else ""
        super().__init__(
            f"The operator of this server has suspended the project {project_id}{because}. It takes"
            " no profiles until then; what is stored stays readable."
        )


class ServiceNotAllowed(Exception):
    """Service that is not among those whose profiles a key may send."""

    def __init__(self, access: Access, service: str) -> None:
        allowed = ", ".join(sorted(access.services))
        super().__init__(
            f"The API key {access.prefix} may not send profiles of the service {service[:100]!r};"
            f" its allowed services are {allowed[:1000]}. Use another key, or change the allowed"
            " services in the project's settings."
        )


@dataclass(frozen=True, slots=True)
class _KeyRow:
    """Columns of a key's row that authentication needs: the secret's hash and the permissions."""

    secret_hash: str
    access: Access
    expires: datetime | None

    def require_time(self, now: datetime) -> None:
        """Raise KeyRejected if the key has expired."""
        if self.expires is not None and self.expires <= now:
            raise KeyRejected(
                _(
                    "This API key expired on %(day)s. The project's settings list its keys and"
                    " make new ones."
                )
                % {"day": self.expires.date().isoformat()}
            )


class LastUse(NamedTuple):
    """Last use of a key; the greater one is the later one."""

    time: datetime
    address: str  # "" if it is unknown


async def authenticate(text: str, address: str = "") -> Access:
    """Return the permissions of a key, or of the key that a token stands for.

    `text` may have any length and content; `address` is that of the client, recorded with the time
    of the last use. Raise KeyRejected for an invalid or expired key or token, and
    django.db.Error or common.database_pool.DatabasePoolFull if a key that is not cached cannot be
    looked up.
    """
    if signed_tokens.is_token(text):
        return _use(await _find_by_token(text), address)
    try:
        parts = keys.parse(text)
        row = await _keys.get_or_load(parts.key_id)
    except (keys.MalformedKey, NoValue):
        raise _rejection() from None
    if not keys.matches(parts.secret, row.secret_hash):
        raise _rejection()
    return _use(row, address)


async def _find_by_token(text: str) -> _KeyRow:
    try:
        return await _keys.get_or_load(await signed_tokens.find_key_id(text))
    except signed_tokens.TokenRejected as rejected:
        raise KeyRejected(str(rejected)) from None
    except NoValue:
        raise _rejection() from None


def _use(row: _KeyRow, address: str) -> Access:
    """Record the use of a key. Raise KeyRejected if it has expired."""
    now = timezone.now()
    row.require_time(now)
    _last_used.note(row.access.key, LastUse(now, address))
    return row.access


def require_not_suspended(access: Access) -> None:
    """Raise ProjectSuspended if the project takes no profiles."""
    if access.suspension is not None:
        raise ProjectSuspended(access.project_id, access.suspension)


async def find_by_id(key_id: str) -> Access | None:
    """Return the permissions of the key with this public id; None if it is not in use.

    Raise as `authenticate` does if a key that is not cached cannot be looked up.
    """
    try:
        row = await _keys.get_or_load(key_id)
        row.require_time(timezone.now())
    except (NoValue, KeyRejected):
        return None
    return row.access


def forget(key_id: str) -> None:
    """Remove a key from the cache after it was revoked or changed."""
    _keys.delete(key_id)


def forget_project(project: int) -> None:
    """Remove the keys of a project (its pk) from the cache after the project has changed."""
    for key_id in ApiKey.objects.filter(project=project).values_list("key_id", flat=True):
        forget(key_id)


def _load(key_id: str) -> _KeyRow:
    rows = ApiKey.objects.filter(key_id=key_id, revoked=None, project__deletion_due=None)
    row = rows.select_related("project").first()
    if row is None:
        raise NoValue(key_id)
    access = Access(
        project=row.project.pk,
        project_id=row.project.project_id,
        key=row.pk,
        prefix=row.prefix,
        may_write=row.may_write,
        may_read=row.may_read,
        default_service=row.default_service,
        services=frozenset(row.services),
        suspension=row.project.suspension_reason if row.project.suspended else None,
    )
    return _KeyRow(row.secret_hash, access, row.expires)


@transaction.atomic
def _write_last_used(used: dict[int, LastUse]) -> None:
    for key, use in sorted(used.items()):
        ApiKey.objects.filter(pk=key).update(last_used=use.time, last_address=use.address)


def _rejection() -> KeyRejected:
    return KeyRejected(
        _(
            "This API key is not valid: it is mistyped, unknown or revoked."
            " The project's settings list its keys and make new ones."
        )
    )


# By the key's public id, so that a wrong secret for a cached id costs no SQL query.
_keys: Cache[str, _KeyRow] = Cache(
    _load,
    size=MOST_KEYS,
    seconds=SECONDS_CACHED,
    max_missing=MOST_UNKNOWN,
    missing_seconds=SECONDS_CACHED,
)
_last_used: WriteBehindBuffer[int, LastUse] = WriteBehindBuffer(_write_last_used, max)
