"""View model of the keys page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from projects.access import may_manage_keys
from projects.credentials import keys
from projects.models import ApiKey, Member

MAX_ENDED_SHOWN = 10
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class KeyRow:
    key: ApiKey
    days_left: int | None  # until it expires, rounded up; None: never
    expires_soon: bool
    has_ended: bool  # revoked or expired
    replaced: ApiKey | None  # the key before its rotation, while it is valid

    @property
    def needs_rotation(self) -> bool:
        return self.expires_soon and not self.has_ended and self.key.replaced_by_id is None


def keys_context(member: Member, *, new_key: tuple[ApiKey, str] | None = None) -> dict[str, object]:
    """Return the template context; `new_key` is a key with its text, which is shown only once."""
    rows = _build_rows(keys.list_keys(member.project), timezone.now())
    in_use = [row for row in rows if not row.has_ended]
    ended = [row for row in rows if row.has_ended]
    return {
        "project": member.project,
        "here": "settings",
        "member": member,
        "may_manage_keys": may_manage_keys(member),
        "rows": [*_drop_replaced(in_use), *ended[:MAX_ENDED_SHOWN]],
        "in_use": len(_drop_replaced(in_use)),
        "in_rotation": sum(row.replaced is not None for row in in_use),
        "more_ended": max(0, len(ended) - MAX_ENDED_SHOWN),
        "notices": [row for row in in_use if row.needs_rotation],
        "new_key": new_key,
    }


def _build_rows(all_keys: Sequence[ApiKey], now: datetime) -> list[KeyRow]:
    in_use = {key.pk for key in all_keys if key.revoked is None and not key.has_expired(now)}
    notice = max(settings.KEY_EXPIRY_NOTICE_DAYS, default=0) * _DAY
    rows = []
    for key in all_keys:
        replaced: ApiKey | None = getattr(key, "replaces", None)
        left = None if key.expires is None else key.expires - now
        rows.append(
            KeyRow(
                key=key,
                days_left=None if left is None else -(-left // _DAY),
                expires_soon=left is not None and left <= notice,
                has_ended=key.pk not in in_use,
                replaced=replaced if replaced is not None and replaced.pk in in_use else None,
            )
        )
    return rows


def _drop_replaced(in_use: Sequence[KeyRow]) -> list[KeyRow]:
    """Return the rows without the keys that are shown with those that replace them."""
    shown = {row.replaced.pk for row in in_use if row.replaced is not None}
    return [row for row in in_use if row.key.pk not in shown]
