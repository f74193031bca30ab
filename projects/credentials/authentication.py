"""Authenticate API keys and their tokens, without SQL for keys that are cached."""

from dataclasses import dataclass
from datetime import datetime

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
    user: int | None = None  # User.pk of a member who sends something in the console

    @property
    def key_id(self) -> str:
        """Return the public id of the key (ApiKey.key_id)."""
        return self.prefix.removeprefix("fw_")


class KeyRejected(Exception):
    """Invalid API key. The text never says which part of it was wrong."""


@dataclass(frozen=True, slots=True)
class _KeyRow:
    """Columns of a key's row that authentication needs: the secret's hash and the permissions."""

    secret_hash: str
    access: Access


async def authenticate(text: str) -> Access:
    """Return the permissions of a key, or of the key that a token stands for.

    `text` may have any length and content. Raise KeyRejected for an invalid key or token, and
    django.db.Error or common.database_pool.DatabasePoolFull if a key that is not cached cannot be
    looked up.
    """
    if signed_tokens.is_token(text):
        return await _authenticate_token(text)
    try:
        parts = keys.parse(text)
        row = await _keys.get_or_load(parts.key_id)
    except (keys.MalformedKey, NoValue):
        raise _rejection() from None
    if not keys.matches(parts.secret, row.secret_hash):
        raise _rejection()
    _last_used.note(row.access.key, timezone.now())
    return row.access


async def _authenticate_token(text: str) -> Access:
    try:
        row = await _keys.get_or_load(await signed_tokens.find_key_id(text))
    except signed_tokens.TokenRejected as rejected:
        raise KeyRejected(str(rejected)) from None
    except NoValue:
        raise _rejection() from None
    _last_used.note(row.access.key, timezone.now())
    return row.access


async def is_active(key_id: str) -> bool:
    """Return False if the key with this public id was revoked or deleted.

    Raise as `authenticate` does if a key that is not cached cannot be looked up.
    """
    try:
        await _keys.get_or_load(key_id)
    except NoValue:
        return False
    return True


def forget(key_id: str) -> None:
    """Remove a key from the cache after it was revoked or changed."""
    _keys.delete(key_id)


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
    )
    return _KeyRow(row.secret_hash, access)


@transaction.atomic
def _write_last_used(used: dict[int, datetime]) -> None:
    for key, time in sorted(used.items()):
        ApiKey.objects.filter(pk=key).update(last_used=time)


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
_last_used: WriteBehindBuffer[int, datetime] = WriteBehindBuffer(_write_last_used, max)
