"""Range menu: ranges that end now, and a custom range with a calendar."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from endpoints.params.selection import TimeRange
from frontend.components.time_ranges import OFFERED, span_name
from frontend.components.units import format_count
from frontend.params.formats import span_text
from projects.models import Project
from projects.usage.limits import limits_of

# Clocks of browsers and servers differ; retention deletes whole hours.
_CLOCK_ERROR, _RETENTION_STEP = timedelta(minutes=2), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class RangeChoice:
    value: str  # of the `span` parameter
    text: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class RangeMenu:
    choices: list[RangeChoice]
    name: str  # of a range that ends now; "" for one with a fixed end
    start: datetime
    end: datetime
    now: datetime
    oldest: datetime  # earlier profiles have been deleted
    retention: str  # "30 days"
    calendar_url: str  # hours with profiles; the caller appends `from` and `to`


def range_menu(
    project: Project, within: TimeRange, now: datetime, service: str = "", type: str = ""
) -> RangeMenu:
    """Build the range menu of a page; without a service, the calendar marks all profiles."""
    start, end = within.bounds(now)
    days = limits_of(project.pk).retention_days
    own = urlencode([pair for pair in (("service", service), ("type", type)) if pair[1]])
    return RangeMenu(
        choices=_choices(within),
        name="" if within.end else span_name(within.span),
        start=start,
        end=end,
        now=now,
        oldest=_oldest(now, days),
        retention=_days(days),
        calendar_url=f"{reverse('calendar', args=[project.project_id])}?{own}",
    )


def range_notices(project: Project, within: TimeRange, now: datetime) -> tuple[str, ...]:
    """Say that a range lies in the future, or begins before the project's retention."""
    start, end = within.bounds(now)
    days = limits_of(project.pk).retention_days
    if start >= now:
        return (_("This range is in the future. Choose one that starts before now."),)
    if end > now + _CLOCK_ERROR:
        return (_("This range ends in the future; it has no profiles after now yet."),)
    oldest = _oldest(now, days) - _RETENTION_STEP
    if end < oldest:
        sentence = _("Profiles are kept for %(days)s; this whole range is older.")
    elif start < oldest:
        sentence = _("Profiles are kept for %(days)s; this range starts earlier.")
    else:
        return ()
    return (sentence % {"days": _days(days)},)


def _choices(within: TimeRange) -> list[RangeChoice]:
    """Return the offered lengths, and the chosen one where a link gave another."""
    chosen = None if within.end else within.span
    spans = sorted({*OFFERED, *([chosen] if chosen else [])})
    return [RangeChoice(span_text(span), span_name(span), span == chosen) for span in spans]


def _oldest(now: datetime, days: int) -> datetime:
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)


def _days(days: int) -> str:
    return ngettext("%(n)s day", "%(n)s days", days) % {"n": format_count(days)}
