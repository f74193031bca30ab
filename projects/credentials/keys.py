"""API keys of projects: create, rotate, change, revoke and list them; rows store only a hash."""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import account_limits, audit
from projects.credentials.key_text import KEY_PREFIX, KeyParts, MalformedKey, generate, make, parse
from projects.models import ApiKey, Project, User

__all__ = [
    "KEY_PREFIX",
    "KeyNotRotated",
    "KeyParts",
    "MalformedKey",
    "change",
    "create",
    "generate",
    "hash_secret",
    "list_keys",
    "make",
    "matches",
    "parse",
    "revoke",
    "rotate",
]

# Number of secrets whose hash is cached: every request carries a key, and few are in use.
_CACHED_SECRETS = 1024


class KeyNotRotated(Exception):
    """Rotation of a key that is no longer in use, or was rotated before."""


@lru_cache(_CACHED_SECRETS)
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
    services: Sequence[str] = (),
    default_service: str = "",
    expires: datetime | None = None,
    text: str = "",
    actor: User | None = None,
    origin: audit.Origin = audit.NO_CLIENT,
) -> tuple[ApiKey, str]:
    """Create a key; return its row and its text, which cannot be recovered later.

    `services` is a result of allowed_services.clean_services; `default_service` is "" or a name
    that projects.models.api_key.SERVICE_NAME accepts. `text` is a key of `generate`, instead of a
    new one. Raise account_limits.LimitReached if the project has as many keys in use as it may
    have.
    """
    text = text or generate()
    parts = parse(text)
    with transaction.atomic():
        account_limits.require_key(project)
        row = ApiKey.objects.create(
            project=project,
            name=name,
            key_id=parts.key_id,
            secret_hash=hash_secret(parts.secret),
            may_write=write,
            may_read=read,
            services=list(services),
            default_service=default_service,
            expires=expires,
            created_by=actor,
        )
        _record(row, "key.create", actor, origin, write=write, read=read, **_restrictions(row))
    return row, text


def rotate(
    row: ApiKey, *, actor: User | None = None, origin: audit.Origin = audit.NO_CLIENT
) -> tuple[ApiKey, str]:
    """Create a key with the name and the permissions of another one, which expires soon.

    Both are valid for FLAMEWATCH_KEY_OVERLAP_DAYS. A key that expires gets a successor with the
    same lifetime. Raise KeyNotRotated for a key that is not in use or was rotated before, and
    account_limits.LimitReached as `create` does.
    """
    text, now = generate(), timezone.now()
    parts = parse(text)
    with transaction.atomic():
        account_limits.require_key(row.project)
        # The project's row is locked: a second rotation at the same time sees the first one.
        old = ApiKey.objects.select_related("project").get(pk=row.pk)
        _require_rotatable(old, now)
        overlap_end = now + timedelta(days=settings.KEY_OVERLAP_DAYS)
        new = ApiKey.objects.create(
            project=old.project,
            name=old.name,
            key_id=parts.key_id,
            secret_hash=hash_secret(parts.secret),
            may_write=old.may_write,
            may_read=old.may_read,
            services=old.services,
            default_service=old.default_service,
            expires=None if old.expires is None else now + (old.expires - old.created),
            created_by=actor,
        )
        old.expires = overlap_end if old.expires is None else min(old.expires, overlap_end)
        old.replaced_by = new
        old.save(update_fields=["expires", "replaced_by"])
        _record(
            old,
            "key.rotate",
            actor,
            origin,
            new_key=new.prefix,
            old_key_expires=old.expires.isoformat(),
            **_restrictions(new),
        )
    return new, text


def _require_rotatable(row: ApiKey, now: datetime) -> None:
    if row.revoked is not None or row.has_expired(now):
        raise KeyNotRotated(
            _("“%(name)s” is revoked or has expired. Create a key instead.") % {"name": row.name}
        )
    if row.replaced_by_id is not None:
        raise KeyNotRotated(
            _("“%(name)s” was rotated already: use the key that replaces it.") % {"name": row.name}
        )


def change(
    row: ApiKey,
    *,
    services: Sequence[str],
    expires: datetime | None,
    actor: User | None = None,
    origin: audit.Origin = audit.NO_CLIENT,
) -> None:
    """Change the allowed services and the expiry of a key.

    It takes effect immediately in this process, within SECONDS_CACHED (15 s) in others.
    """
    before = _restrictions(row)
    row.services, row.expires = list(services), expires
    after = _restrictions(row)
    changed = {name: value for name, value in after.items() if value != before[name]}
    if not changed:
        return
    with transaction.atomic():
        row.save(update_fields=["services", "expires"])
        _record(row, "key.change", actor, origin, changed=changed)


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
    """Return the keys of a project: keys in use before revoked ones, by expiry, newest first.

    Keys that never expire come last.
    """
    return list(
        ApiKey.objects.filter(project=project)
        .select_related("created_by", "replaces")
        .order_by(
            F("revoked").asc(nulls_first=True),
            F("expires").asc(nulls_last=True),
            "-created",
            "-pk",
        )
    )


def _restrictions(row: ApiKey) -> dict[str, object]:
    expires = row.expires.isoformat() if row.expires else None
    return {"services": row.services, "expires": expires}


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
