"""Authenticate API keys and their tokens, without SQL for keys that are cached."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from common.cache import Cache, NoValue
from common.write_behind import WriteBehindBuffer
from projects.credentials import keys, signed_tokens
from projects.credentials.allowed_services import (
    ALL_SERVICES,
    AllowedServices,
    ServiceNotAllowed,
)
from projects.models import ApiKey
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

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
    services: AllowedServices = ALL_SERVICES
    expires: datetime | None = None  # None: never
    suspension: str | None = None  # reason, if the operator has suspended the project
    user: int | None = None  # User.pk of a member who sends something in the console

    @property
    def key_id(self) -> str:
        """Return the public id of the key (ApiKey.key_id)."""
        return self.prefix.removeprefix("fw_")


class KeyRejected(Exception):
    """Invalid API key. The text never says which part of it was wrong."""


class KeyExpired(KeyRejected):
    """Valid API key, or a token of one, after the time when the key expired."""

    def __init__(self, access: Access, expired: datetime) -> None:
        self.project = access.project
        moment = expired.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
        text = _(
            "The API key %(key)s… expired on %(time)s. Create a key in the project's settings, and"
            " send that one."
        )
        super().__init__(text % {"key": access.prefix, "time": moment})


class ProjectSuspended(Exception):
    """Upload or handshake of a project that the operator of the server has suspended."""

    def __init__(self, project_id: str, reason: str) -> None:
        because = f": {reason}" if reason else ""
        super().__init__(
            f"The operator of this server has suspended the project {project_id}{because}. It takes"
            " no profiles until then; what is stored stays readable."
        )


class _KeyUse(NamedTuple):
    """Time of a use of a key, and the address of its client."""

    time: datetime
    address: str


@dataclass(frozen=True, slots=True)
class _KeyRow:
    """Columns of a key's row that authentication needs: the secret's hash and the permissions."""

    secret_hash: str
    access: Access


async def authenticate(text: str, address: str = "") -> Access:
    """Return the permissions of a key, or of the key that a token stands for.

    `text` may have any length and content; `address` is that of the client. Raise KeyRejected for
    an invalid key or token, KeyExpired for an expired one, and django.db.Error or
    common.database_pool.DatabasePoolFull if a key that is not cached cannot be looked up.
    """
    if signed_tokens.is_token(text):
        return _use(await _find_key_of_token(text), address)
    try:
        parts = keys.parse(text)
        row = await _keys.get_or_load(parts.key_id)
    except (keys.MalformedKey, NoValue):
        raise _rejection() from None
    if not keys.matches(parts.secret, row.secret_hash):
        raise _rejection()
    return _use(row.access, address)


def _use(access: Access, address: str) -> Access:
    """Note the use of a key. Raise KeyExpired if it has expired, also while it is cached."""
    now = timezone.now()
    if access.expires is not None and access.expires <= now:
        raise KeyExpired(access, access.expires)
    _last_used.note(access.key, _KeyUse(now, address))
    return access


async def _find_key_of_token(text: str) -> Access:
    try:
        row = await _keys.get_or_load(await signed_tokens.find_key_id(text))
    except signed_tokens.TokenRejected as rejected:
        raise KeyRejected(str(rejected)) from None
    except NoValue:
        raise _rejection() from None
    return row.access


async def find_access(key_id: str) -> Access | None:
    """Return the permissions of the key with this public id.

    Return None if it was revoked or deleted, or has expired. Raise as `authenticate` does if a key
    that is not cached cannot be looked up.
    """
    try:
        access = (await _keys.get_or_load(key_id)).access
    except NoValue:
        return None
    expires = access.expires
    return access if expires is None or timezone.now() < expires else None


def require_service(access: Access, service: str) -> None:
    """Raise ServiceNotAllowed, and count a rejection, for a service that the key may not use.

    Call it on the event loop.
    """
    try:
        access.services.require(service)
    except ServiceNotAllowed:
        rejections.note(access.project, RejectionReason.KEY_SERVICES)
        raise


def require_not_suspended(access: Access) -> None:
    """Raise ProjectSuspended if the project takes no profiles."""
    if access.suspension is not None:
        raise ProjectSuspended(access.project_id, access.suspension)


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
        services=AllowedServices(tuple(row.services), row.prefix),
        expires=row.expires,
        suspension=row.project.suspension_reason if row.project.suspended else None,
    )
    return _KeyRow(row.secret_hash, access)


@transaction.atomic
def _write_last_used(uses: dict[int, _KeyUse]) -> None:
    for key, use in sorted(uses.items()):
        ApiKey.objects.filter(pk=key).update(last_used=use.time, last_used_from=use.address)


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
_last_used: WriteBehindBuffer[int, _KeyUse] = WriteBehindBuffer(_write_last_used, max)
