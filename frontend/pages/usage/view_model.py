"""View model of the usage page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypedDict

from django.utils.translation import gettext as _

from common.amounts import bytes_text, wait_text
from frontend.pages.usage.form import QuotaRequestForm
from frontend.text.units import format_count
from projects import quota_requests
from projects.access import may_request_quotas
from projects.models import DayUsage, Member, Project, QuotaRequest, QuotaRequestState
from projects.usage.limits import LimitName
from projects.usage.rejection_advice import explain_rejection
from projects.usage.rejections import RejectionCount
from projects.usage.usage import LimitUsage, Usage
from projects.usage.usage_history import load_history
from projects.usage.warnings import NEARLY_FULL

CHART_HEIGHT = 100  # units of the charts' view box
_DAY_WIDTH = 10


@dataclass(frozen=True, slots=True)
class QuotaRow:
    usage: LimitUsage
    reset: str  # sentence about the time until the reset; "" without one
    is_full: bool
    is_nearly_full: bool  # or full


@dataclass(frozen=True, slots=True)
class ChartBar:
    x: int
    y: float
    height: float
    state: str  # "", "warn" or "full": share of the limit


@dataclass(frozen=True, slots=True)
class DayChart:
    """Bars of one quantity by day, in a view box of 300 × CHART_HEIGHT."""

    title: str
    subtitle: str
    latest: str  # value of today
    top: str  # value at the upper edge
    bars: list[ChartBar]
    limit_y: float | None
    summary: str  # for screen readers


@dataclass(frozen=True, slots=True)
class DayRow:
    day: date
    profiles: str
    stored: str
    new_deployments: str
    rejected: str


@dataclass(frozen=True, slots=True)
class RejectionLine:
    count: RejectionCount
    explanation: str


@dataclass(frozen=True, slots=True)
class RequestRow:
    request: QuotaRequest
    text: str
    is_open: bool
    is_granted: bool


class UsageContext(TypedDict):
    project: Project
    here: str
    member: Member
    usage: Usage
    quotas: list[QuotaRow]
    warnings: list[QuotaRow]
    charts: list[DayChart]
    first_day: date
    last_day: date
    days: list[DayRow]
    rejections: list[RejectionLine]
    may_request: bool
    form: QuotaRequestForm
    requests: list[RequestRow]


def usage_context(member: Member, usage: Usage, form: QuotaRequestForm) -> UsageContext:
    days = load_history(member.project.pk)
    quotas = [_quota_row(limit) for limit in usage.limits]
    return {
        "project": member.project,
        "here": "settings",
        "member": member,
        "usage": usage,
        "quotas": quotas,
        "warnings": [row for row in quotas if row.is_nearly_full],
        "charts": _build_charts(days, usage),
        "first_day": days[0].day,
        "last_day": days[-1].day,
        "days": [_day_row(day) for day in reversed(days)],
        "rejections": [
            RejectionLine(count, explain_rejection(count.reason)) for count in usage.rejections
        ],
        "may_request": may_request_quotas(member),
        "form": form,
        "requests": [_request_row(row) for row in quota_requests.list_recent(member.project)],
    }


def _quota_row(limit: LimitUsage) -> QuotaRow:
    share = limit.share or 0
    reset = ""
    if limit.resets_in is not None:
        reset = _("Resets in %(wait)s") % {"wait": wait_text(limit.resets_in)}
    return QuotaRow(limit, reset, is_full=share >= 1, is_nearly_full=share >= NEARLY_FULL)


def _build_charts(days: Sequence[DayUsage], usage: Usage) -> list[DayChart]:
    allowed = {limit.name: limit.allowed for limit in usage.limits}
    return [
        _build_chart(
            _("Profiles per day"),
            _("accepted"),
            [day.profiles for day in days],
            format_count,
            allowed[LimitName.PROFILES_PER_DAY],
        ),
        _build_chart(
            _("Stored"), _("by day of arrival"), [day.stored_bytes for day in days], bytes_text
        ),
        _build_chart(
            _("New deployments per day"),
            "",
            [day.new_deployments for day in days],
            format_count,
            allowed[LimitName.NEW_DEPLOYMENTS_PER_DAY],
        ),
        _build_chart(
            _("Rejected profiles"),
            _("and new deployments"),
            [day.rejected for day in days],
            format_count,
            is_bad=True,
        ),
    ]


def _build_chart(
    title: str,
    subtitle: str,
    values: list[int],
    format_value: Callable[[int], str],
    limit: int | None = None,
    *,
    is_bad: bool = False,
) -> DayChart:
    """Scale the bars to the largest value.

    The limit is drawn if a bar reaches half of it: else it would flatten the bars.
    """
    most = max(values)
    shows_limit = limit is not None and 2 * most >= limit > 0
    top = max(most, limit if shows_limit and limit else 0, 1)
    bars = []
    for index, value in enumerate(values):
        height = round(CHART_HEIGHT * value / top, 1)
        state = "full" if is_bad else _bar_state(value, limit)
        bars.append(ChartBar(index * _DAY_WIDTH + 1, CHART_HEIGHT - height, height, state))
    summary = _("%(title)s: today %(today)s, at most %(most)s a day") % {
        "title": title,
        "today": format_value(values[-1]),
        "most": format_value(most),
    }
    return DayChart(
        title=title,
        subtitle=subtitle,
        latest=format_value(values[-1]),
        top=format_value(top),
        bars=bars,
        limit_y=CHART_HEIGHT * (1 - limit / top) if shows_limit and limit else None,
        summary=summary,
    )


def _bar_state(value: int, limit: int | None) -> str:
    if not limit or value < NEARLY_FULL * limit:
        return ""
    return "full" if value >= limit else "warn"


def _day_row(day: DayUsage) -> DayRow:
    return DayRow(
        day.day,
        format_count(day.profiles),
        bytes_text(day.stored_bytes),
        format_count(day.new_deployments),
        format_count(day.rejected),
    )


def _request_row(row: QuotaRequest) -> RequestRow:
    return RequestRow(
        row,
        quota_requests.describe(row),
        is_open=row.state == QuotaRequestState.OPEN,
        is_granted=row.state == QuotaRequestState.GRANTED,
    )
