"""API keys `fw_<id>_<secret><checksum>`: the id identifies the row, which stores only a hash."""

import hashlib
import hmac
import secrets
import string
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

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


class InvalidRotation(Exception):
    """Rotation of a key that cannot be rotated; the text gives the reason."""


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
    services: Sequence[str] = (),
    expires: datetime | None = None,
    actor: User | None = None,
    origin: audit.Origin = audit.NO_CLIENT,
) -> tuple[ApiKey, str]:
    """Create a key; return its row and its text, which cannot be recovered later.

    `default_service` is "" or a name that projects.models.api_key.SERVICE_NAME accepts, as are
    `services`, those whose profiles the key may send; none: all. Raise
    account_limits.LimitReached if the project has as many keys in use as it may have.
    """
    row, text = _build(project, name)
    row.may_write, row.may_read, row.default_service = write, read, default_service
    row.services, row.expires, row.created_by = [*services], expires, actor
    with transaction.atomic():
        _save_new(row)
        limits: dict[str, Any] = {"services": row.services} if services else {}
        if expires:
            limits["expires"] = expires.isoformat()
        _record(row, "key.create", actor, origin, write=write, read=read, **limits)
    return row, text


def rotate(
    row: ApiKey, *, actor: User | None = None, origin: audit.Origin = audit.NO_CLIENT
) -> tuple[ApiKey, str]:
    """Create a key with the options of another one, which expires after the overlap.

    The overlap is FLAMEWATCH_KEY_OVERLAP_DAYS long, or ends when the old key expires anyway. The
    new one expires as long after its creation as the old one did. Raise InvalidRotation for a key
    that is not in use or was rotated before, or account_limits.LimitReached.
    """
    now = timezone.now()
    with transaction.atomic():
        old = ApiKey.objects.select_for_update(no_key=True).get(pk=row.pk)
        if not old.is_active(now) or old.replaced_by_id is not None:
            raise InvalidRotation(
                _("This key was rotated before, has expired or is revoked. Create another one.")
            )
        new, text = _build(row.project, old.name)
        new.may_write, new.may_read, new.created_by = old.may_write, old.may_read, actor
        new.default_service, new.services = old.default_service, old.services
        new.expires = None if old.expires is None else now + (old.expires - old.created)
        _save_new(new)
        overlap_end = now + timedelta(days=settings.KEY_OVERLAP_DAYS)
        old.expires = min(overlap_end, old.expires or overlap_end)
        old.replaced_by = new
        old.save(update_fields=["expires", "replaced_by"])
        _record(
            old, "key.rotate", actor, origin, new_key=new.prefix, expires=old.expires.isoformat()
        )
    return new, text


def change_services(
    row: ApiKey,
    services: tuple[str, ...],
    *,
    actor: User | None = None,
    origin: audit.Origin = audit.NO_CLIENT,
) -> None:
    """Change the services whose profiles a key may send: at once here, within 15 s elsewhere."""
    if tuple(row.services) == services:
        return
    with transaction.atomic():
        before, row.services = row.services, list(services)
        row.save(update_fields=["services"])
        _record(row, "key.change", actor, origin, services=row.services, before=before)


def _build(project: Project, name: str) -> tuple[ApiKey, str]:
    """Return an unsaved key with a new secret, and its text."""
    parts = generate_parts()
    row = ApiKey(
        project=project, name=name, key_id=parts.key_id, secret_hash=hash_secret(parts.secret)
    )
    return row, make(parts.key_id, parts.secret)


def _save_new(row: ApiKey) -> None:
    """Insert a key within the limit of its project. Use a transaction."""
    account_limits.require_key(row.project)
    row.save(force_insert=True)


def _record(
    row: ApiKey, action: str, actor: User | None, origin: audit.Origin, **detail: Any
) -> None:
    audit.record(
        row.project,
        action,
        actor=actor,
        origin=origin,
        target=row.name,
        key=row.prefix,
        name=row.name,
        **detail,
    )


def revoke(
    row: ApiKey, *, actor: User | None = None, origin: audit.Origin = audit.NO_CLIENT
) -> None:
    """Revoke a key: immediately in this process, within SECONDS_CACHED (15 s) in others."""
    if row.revoked is not None:
        return
    with transaction.atomic():
        row.revoke()
        _record(row, "key.revoke", actor, origin)


def list_keys(project: Project) -> list[ApiKey]:
    """Return the keys of a project: keys in use before revoked ones, those first that expire first.

    Keys that never expire follow, the newest first.
    """
    return list(
        ApiKey.objects.filter(project=project)
        .select_related("created_by", "replaced_by")
        .order_by(
            F("revoked").asc(nulls_first=True),
            F("expires").asc(nulls_last=True),
            "-created",
            "-pk",
        )
    )


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _checksum(text: str) -> str:
    """Return the CRC-32 as six base-62 digits, for secret scanners and to detect typing errors."""
    value, digits = zlib.crc32(text.encode()), ""
    for _position in range(_CHECKSUM_LENGTH):
        value, digit = divmod(value, 62)
        digits = _ALPHABET[digit] + digits
    return digits
