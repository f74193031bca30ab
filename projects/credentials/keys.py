"""API keys `fw_<id>_<secret><checksum>`: the id identifies the row, which stores only a hash."""

import hashlib
import hmac
import secrets
import string
import zlib
from dataclasses import dataclass
from functools import lru_cache

from django.db import transaction
from django.db.models import F

from projects import account_limits, audit
from projects.models import ApiKey, Project, User

KEY_PREFIX = "fw_"
_ALPHABET = string.ascii_letters + string.digits
_ID_LENGTH, _SECRET_LENGTH, _CHECKSUM_LENGTH = 10, 32, 6
# Number of keys whose checksum and hash are cached: every request carries a key, and few are in
# use.
_CACHED_KEYS = 1024


@dataclass(frozen=True, slots=True)
class KeyParts:
    key_id: str
    secret: str


class MalformedKey(ValueError):
    """Text that is not a Flamewatch key: mistyped, truncated or of another kind."""


def generate_parts() -> KeyParts:
    """Return a new random id and secret."""
    return KeyParts(_random(_ID_LENGTH), _random(_SECRET_LENGTH))


def make(key_id: str, secret: str, prefix: str = KEY_PREFIX) -> str:
    return f"{prefix}{key_id}_{secret}{_checksum(key_id + secret)}"


@lru_cache(_CACHED_KEYS)  # caches only well-formed texts, so their length is bounded
def parse(text: str, prefix: str = KEY_PREFIX) -> KeyParts:
    """Split a key into its parts; raise MalformedKey if its shape or checksum is wrong."""
    head, _, rest = text.removeprefix(prefix).partition("_")
    secret, checksum = rest[:-_CHECKSUM_LENGTH], rest[-_CHECKSUM_LENGTH:]
    shape = text.startswith(prefix) and len(head) == _ID_LENGTH and len(secret) == _SECRET_LENGTH
    legible = text.isascii() and text.isprintable()  # databases reject NUL in the id
    if not shape or not legible or checksum != _checksum(head + secret):
        raise MalformedKey("Not a Flamewatch key, or a part of it is missing.")
    return KeyParts(head, secret)


@lru_cache(_CACHED_KEYS)
def hash_secret(secret: str) -> str:
    # 190 random bits cannot be guessed, so a fast hash is as safe as a slow one here.
    return hashlib.sha256(secret.encode()).hexdigest()


def matches(secret: str, stored: str) -> bool:
    return hmac.compare_digest(hash_secret(secret), stored)


def create(
    project: Project,
    name: str,
    *,
    write: bool = True,
    read: bool = False,
    default_service: str = "",
    actor: User | None = None,
    origin: audit.Origin = audit.NO_CLIENT,
) -> tuple[ApiKey, str]:
    """Create a key; return its row and its text, which cannot be recovered later.

    `default_service` is "" or a name that projects.models.api_key.SERVICE_NAME accepts. Raise
    account_limits.LimitReached if the project has as many keys in use as it may have.
    """
    parts = generate_parts()
    with transaction.atomic():
        account_limits.require_key(project)
        row = ApiKey.objects.create(
            project=project,
            name=name,
            key_id=parts.key_id,
            secret_hash=hash_secret(parts.secret),
            may_write=write,
            may_read=read,
            default_service=default_service,
            created_by=actor,
        )
        audit.record(
            project,
            "key.create",
            actor=actor,
            origin=origin,
            target=name,
            key=row.prefix,
            name=name,
            write=write,
            read=read,
        )
    return row, make(parts.key_id, parts.secret)


def revoke(
    row: ApiKey, *, actor: User | None = None, origin: audit.Origin = audit.NO_CLIENT
) -> None:
    """Revoke a key: immediately in this process, within SECONDS_CACHED (15 s) in others."""
    if row.revoked is not None:
        return
    with transaction.atomic():
        row.revoke()
        audit.record(
            row.project,
            "key.revoke",
            actor=actor,
            origin=origin,
            target=row.name,
            key=row.prefix,
            name=row.name,
        )


def list_keys(project: Project) -> list[ApiKey]:
    """Return the keys of a project: keys in use before revoked ones, then newest first."""
    return list(
        ApiKey.objects.filter(project=project)
        .select_related("created_by")
        .order_by(F("revoked").asc(nulls_first=True), "-created", "-pk")
    )


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _checksum(text: str) -> str:
    """Return the CRC-32 as six base-62 digits, for secret scanners and to detect typing errors."""
    value, digits = zlib.crc32(text.encode()), ""
    for _ in range(_CHECKSUM_LENGTH):
        value, digit = divmod(value, 62)
        digits = _ALPHABET[digit] + digits
    return digits
