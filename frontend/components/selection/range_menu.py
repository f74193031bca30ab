"""Range menu: ranges that end now, and a custom range with a calendar."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from endpoints.params.selection import TimeRange
from frontend.page_query import PageQuery, get_oldest_time
from frontend.params.formats import span_text
from frontend.text.time_ranges import OFFERED, days_name, span_name
from projects.models import Project
from projects.usage.limits import get_limits


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
    project: Project, range: TimeRange, now: datetime, service: str = "", type: str = ""
) -> RangeMenu:
    """Build the range menu of a page; without a service, the calendar marks all profiles."""
    start, end = range.bounds(now)
    days = get_limits(project.pk).retention_days
    own = urlencode([pair for pair in (("service", service), ("type", type)) if pair[1]])
    return RangeMenu(
        choices=_choices(range),
        name="" if range.end else span_name(range.span),
        start=start,
        end=end,
        now=now,
        oldest=get_oldest_time(now, days),
        retention=days_name(days),
        calendar_url=f"{reverse('calendar', args=[project.project_id])}?{own}",
    )


def page_range_menu(query: PageQuery) -> RangeMenu:
    """Return the menu of a page; its calendar marks the profiles of the service and type."""
    selection = query.selection
    return range_menu(
        query.project, query.params.range, query.now, selection.service, selection.type
    )


def _choices(range: TimeRange) -> list[RangeChoice]:
    """Return the offered lengths, and the chosen one where a link gave another."""
    chosen = None if range.end else range.span
    spans = sorted({*OFFERED, *([chosen] if chosen else [])})
    return [RangeChoice(span_text(span), span_name(span), span == chosen) for span in spans]
