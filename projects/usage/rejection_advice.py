"""Rejections of a project in words: why, and what ends them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects.models import DayRejections
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName
from projects.usage.rejections import LABELS, OF_QUOTA, RejectionReason

DAYS = timedelta(days=7)  # that the tenant page lists
_LIMITS = {reason: limit for limit, reason in OF_QUOTA.items()}
_RAISE = _("Raise the limit, or ask the team to send less.")
_ADVICE: dict[RejectionReason, Promise] = {
    RejectionReason.PROFILES_PER_MINUTE: _RAISE,
    RejectionReason.PROFILES_PER_DAY: _RAISE,
    RejectionReason.STORED_BYTES: _("Raise the limit, or shorten the retention."),
    RejectionReason.BYTES_PER_PROFILE: _("Raise the limit if such large profiles are intended."),
    RejectionReason.NEW_DEPLOYMENTS: _(
        "A service often sends a new version for each build. Raise the limit, or ask the team for"
        " fewer versions."
    ),
    RejectionReason.NEW_AGENTS: _("The agents report; only their list is incomplete today."),
    RejectionReason.PARKED_HANDSHAKES: _("Raise the limit: the project runs more agents."),
    RejectionReason.QUERIES_PER_MINUTE: _(
        "A script asks too often. FLAMEWATCH_QUERIES_PER_MINUTE limits the queries of each project."
    ),
    RejectionReason.QUERIES_WAITING: _("Slow queries of the project queue up; they are retried."),
    RejectionReason.PAGES_WAITING: _("Slow pages of the project queue up; people reload them."),
    RejectionReason.UPLOAD_MEMORY: _(
        "Many large uploads at once; agents send them again. FLAMEWATCH_UPLOAD_MEMORY_BYTES limits"
        " them."
    ),
    RejectionReason.CONVERSION: _("A file of another profiler took too much time or memory."),
    RejectionReason.DECODING: _("A profile took too much time or memory to decode."),
    RejectionReason.LABEL_VALUES: _(
        "A label has a value for each request or user. Ask the team to use fewer values."
    ),
    RejectionReason.KEY_EXPIRED: _("Agents send an expired API key. The team has to replace it."),
    RejectionReason.KEY_SERVICES: _(
        "An API key sends or reads a service that it may not use. The project's admins change its"
        " allowed services."
    ),
    RejectionReason.SUSPENDED: _("Resume the project."),
    RejectionReason.SERVER_BUSY: _("The server is at its limit; agents send again."),
}

# For owners, who cannot raise a limit themselves.
_LESS = _("What exceeds the limit is rejected until it resets. Send less, or request more.")
_EXPLANATIONS: dict[RejectionReason, Promise] = {
    RejectionReason.PROFILES_PER_MINUTE: _LESS,
    RejectionReason.PROFILES_PER_DAY: _LESS,
    RejectionReason.STORED_BYTES: _(
        "New profiles are rejected until older ones are deleted; nothing stored is lost. Shorten"
        " the retention, or request more."
    ),
    RejectionReason.BYTES_PER_PROFILE: _(
        "Single profiles are larger than the limit. Request more if they are intended."
    ),
    RejectionReason.NEW_DEPLOYMENTS: _(
        "Often a service sends a new version for each build. Known deployments are not affected."
    ),
    RejectionReason.NEW_AGENTS: _("The agents report; only their list is incomplete today."),
    RejectionReason.PARKED_HANDSHAKES: _(
        "More agents wait than the limit allows. They try again later, and report less often."
    ),
    RejectionReason.QUERIES_PER_MINUTE: _("A script asks too often."),
    RejectionReason.QUERIES_WAITING: _("Slow queries queue up; they are retried."),
    RejectionReason.PAGES_WAITING: _("Slow pages queue up; reloading them adds to the queue."),
    RejectionReason.UPLOAD_MEMORY: _("Many large uploads at once; agents send them again."),
    RejectionReason.CONVERSION: _("A file of another profiler took too much time or memory."),
    RejectionReason.DECODING: _("A profile took too much time or memory to decode."),
    RejectionReason.LABEL_VALUES: _(
        "A label has a value for each request or user. Use fewer values."
    ),
    RejectionReason.KEY_EXPIRED: _("Agents send an expired API key. Replace it."),
    RejectionReason.KEY_SERVICES: _(
        "An API key sends or reads a service that it may not use. Change its allowed services."
    ),
    RejectionReason.SUSPENDED: _("The operator of this server has suspended the project."),
    RejectionReason.SERVER_BUSY: _("The server was at its limit; agents send again."),
}
_BY_VALUE = {reason.value: reason for reason in RejectionReason}


@dataclass(frozen=True, slots=True)
class RejectionRow:
    """Rejections of one day and reason."""

    day: date
    label: str
    count: int
    advice: str
    limit: LimitName | None  # that was reached


def list_rejections(project: int) -> list[RejectionRow]:
    """Return the rejections of a project (its pk) within DAYS, the newest day first."""
    first = utc_day() - DAYS
    rows = DayRejections.objects.filter(project=project, day__gt=first)
    return [_row(row) for row in rows.order_by("-day", "-count")]


def explain_rejection(reason: str) -> str:
    """Return a sentence for owners about a stored reason; "" for one of another version."""
    stored_reason = _BY_VALUE.get(reason)
    return str(_EXPLANATIONS.get(stored_reason, "")) if stored_reason else ""


def count_today(rows: Sequence[RejectionRow]) -> int:
    today = utc_day()
    return sum(row.count for row in rows if row.day == today)


def _row(row: DayRejections) -> RejectionRow:
    reason = _BY_VALUE.get(row.reason)  # a stored reason may be of another version
    return RejectionRow(
        day=row.day,
        label=str(LABELS[reason]) if reason else row.reason,
        count=row.count,
        advice=str(_ADVICE.get(reason, "")) if reason else "",
        limit=_LIMITS.get(reason) if reason else None,
    )
