"""Rejected requests, counted by project, day (UTC) and reason.

`note` only changes memory; the counts are written every 5 s, through a write-behind buffer.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from django.db import transaction
from django.db.models import F, Q, Sum
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from common.write_behind import WriteBehindBuffer
from projects.models import DayRejections, DayUsage, Project
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName

WEEK = timedelta(days=7)
MONTH = timedelta(days=30)
STORED = timedelta(days=31)  # older rows are deleted


class RejectionReason(StrEnum):
    """Limit that a rejected request exceeded; stored, and a label of a metric."""

    PROFILES_PER_MINUTE = "profiles_per_minute"
    PROFILES_PER_DAY = "profiles_per_day"
    STORED_BYTES = "stored_bytes"
    BYTES_PER_PROFILE = "bytes_per_profile"
    NEW_DEPLOYMENTS = "new_deployments"
    NEW_AGENTS = "new_agents"
    PARKED_HANDSHAKES = "parked_handshakes"
    QUERIES_PER_MINUTE = "queries_per_minute"
    QUERIES_WAITING = "queries_waiting"
    PAGES_WAITING = "pages_waiting"
    UPLOAD_MEMORY = "upload_memory"
    CONVERSION = "conversion"
    DECODING = "decoding"
    LABEL_VALUES = "label_values"
    KEY_EXPIRED = "key_expired"
    KEY_SERVICES = "key_services"
    SUSPENDED = "suspended"
    SERVER_BUSY = "server_busy"  # limit of all projects together
    CONNECTIONS_PER_ADDRESS = "connections_per_address"  # of no project, as the next
    OPEN_FILES = "open_files"
    UNREAD_RESPONSES = "unread_responses"


LABELS: dict[RejectionReason, Promise] = {
    RejectionReason.PROFILES_PER_MINUTE: _("Profiles per minute"),
    RejectionReason.PROFILES_PER_DAY: _("Profiles per day"),
    RejectionReason.STORED_BYTES: _("Stored bytes"),
    RejectionReason.BYTES_PER_PROFILE: _("Profile size"),
    RejectionReason.NEW_DEPLOYMENTS: _("New deployments per day"),
    RejectionReason.NEW_AGENTS: _("New agents per deployment per day"),
    RejectionReason.PARKED_HANDSHAKES: _("Waiting agents"),
    RejectionReason.QUERIES_PER_MINUTE: _("API queries per minute"),
    RejectionReason.QUERIES_WAITING: _("Waiting queries"),
    RejectionReason.PAGES_WAITING: _("Waiting pages"),
    RejectionReason.UPLOAD_MEMORY: _("Memory of uploads in flight"),
    RejectionReason.CONVERSION: _("Time and memory to convert a file"),
    RejectionReason.DECODING: _("Time and memory to decode a profile"),
    RejectionReason.LABEL_VALUES: _("Label values per day"),
    RejectionReason.SUSPENDED: _("Project suspended by the operator"),
    RejectionReason.KEY_EXPIRED: _("Expired API key"),
    RejectionReason.KEY_SERVICES: _("Allowed services of the API key"),
    RejectionReason.SERVER_BUSY: _("Server-wide limit"),
    RejectionReason.CONNECTIONS_PER_ADDRESS: _("Connections per client address"),
    RejectionReason.OPEN_FILES: _("Open files on the server"),
    RejectionReason.UNREAD_RESPONSES: _("Unread responses"),
}
OF_QUOTA = {
    LimitName.PROFILES_PER_MINUTE: RejectionReason.PROFILES_PER_MINUTE,
    LimitName.PROFILES_PER_DAY: RejectionReason.PROFILES_PER_DAY,
    LimitName.STORED_BYTES: RejectionReason.STORED_BYTES,
    LimitName.BYTES_PER_PROFILE: RejectionReason.BYTES_PER_PROFILE,
    LimitName.NEW_DEPLOYMENTS_PER_DAY: RejectionReason.NEW_DEPLOYMENTS,
    LimitName.PARKED_HANDSHAKES: RejectionReason.PARKED_HANDSHAKES,
}
# Rejected profiles, and handshakes of deployments over the quota: counted in DayUsage.rejected too.
_IN_USAGE = frozenset(OF_QUOTA.values()) - {RejectionReason.PARKED_HANDSHAKES}


@dataclass(frozen=True, slots=True)
class RejectionCount:
    reason: str
    label: str
    today: int
    week: int  # the last seven days, today included
    month: int  # the last 30 days


@dataclass(frozen=True, slots=True)
class _RejectionKey:
    project: int
    day: date
    reason: RejectionReason


def note(project: int | None, reason: RejectionReason) -> None:
    """Count one rejected request of a project (its pk), or None before a project is known.

    Without SQL. Call it on the event loop.
    """
    _totals[reason] += 1
    if project is not None:
        _rejections.note(_RejectionKey(project, utc_day(), reason), 1)


def totals() -> Mapping[RejectionReason, int]:
    """Return the rejections of this process since its start, by reason."""
    return {reason: _totals[reason] for reason in RejectionReason}


def load_rejections(project: int) -> tuple[RejectionCount, ...]:
    """Return the rejections of a project (its pk) in the last 30 days, most frequent first.

    Blocks on the database.
    """
    today = utc_day()
    rows = DayRejections.objects.filter(project=project, day__gt=today - MONTH)
    sums = rows.values("reason").annotate(
        month=Sum("count"),
        week=Sum("count", filter=Q(day__gt=today - WEEK), default=0),
        today=Sum("count", filter=Q(day=today), default=0),
    )
    return tuple(
        RejectionCount(
            reason=row["reason"],
            label=_label(row["reason"]),
            today=row["today"],
            week=row["week"],
            month=row["month"],
        )
        for row in sums.order_by("-week", "-month", "reason")
    )


def delete_old(project: int, now: datetime) -> None:
    """Delete the counts of days more than a month ago."""
    DayRejections.objects.filter(project=project, day__lt=(now - STORED).date()).delete()


def _label(reason: str) -> str:
    """Return the text of a stored reason, which may be of another version of this code."""
    by_value = {each.value: each for each in RejectionReason}
    return str(LABELS[by_value[reason]]) if reason in by_value else reason


@transaction.atomic
def _write(counts: dict[_RejectionKey, int]) -> None:
    projects = {key.project for key in counts}
    existing = set(Project.objects.filter(pk__in=projects).values_list("pk", flat=True))
    rejected: Counter[tuple[int, date]] = Counter()
    # Sorted, so that two processes lock the rows in the same order.
    for key in sorted(counts, key=lambda key: (key.project, key.day, key.reason)):
        if key.project not in existing:
            continue
        row, _created = DayRejections.objects.get_or_create(
            project_id=key.project, day=key.day, reason=key.reason.value
        )
        DayRejections.objects.filter(pk=row.pk).update(count=F("count") + counts[key])
        if key.reason in _IN_USAGE:
            rejected[key.project, key.day] += counts[key]
    for (project, day), count in rejected.items():
        usage, _created = DayUsage.objects.get_or_create(project_id=project, day=day)
        DayUsage.objects.filter(pk=usage.pk).update(rejected=F("rejected") + count)


_totals: Counter[RejectionReason] = Counter()
_rejections: WriteBehindBuffer[_RejectionKey, int] = WriteBehindBuffer(
    _write, lambda older, newer: older + newer
)
