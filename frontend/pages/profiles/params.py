"""URL parameters of the profiles page: selection, order and page of the list."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from endpoints.params.values import LONGEST_SPAN
from frontend.queries.params import PageParams, parse_time, time_text, without
from frontend.queries.params import read as read_asked
from profiles.query import ProfileOrder, Selection
from projects.profile_types import ProfileType

_LONGEST_PAGE = 120


@dataclass(frozen=True, slots=True)
class ProfileQuery:
    """Parameters of the profiles page; `params` has the range and the weights."""

    params: PageParams
    # selected part of the range; the end is exclusive
    picked: tuple[datetime, datetime] | None = None
    order: ProfileOrder = ProfileOrder.NEWEST
    page: str = ""  # cursor of the list's page; "" for the first
    table: bool = False  # show the heat map as a table

    @property
    def narrowed(self) -> bool:
        return bool(self.picked or self.params.weights)

    def selection(self, project: int, service: str, of: ProfileType, now: datetime) -> Selection:
        """Return the listed profiles: the selected region of the heat map, or the whole range."""
        whole = self.params.selection(project, service, of, now)
        if self.picked is None:
            return whole
        start, end = self.picked
        return replace(whole, start=max(start, whole.start), end=min(end, whole.end))

    def parameters(self) -> str:
        pairs = [
            ("pick_from", moment_text(self.picked[0]) if self.picked else ""),
            ("pick_to", moment_text(self.picked[1]) if self.picked else ""),
            ("order", self.order.value if self.order is not ProfileOrder.NEWEST else ""),
            ("table", "1" if self.table else ""),
            ("page", self.page),
        ]
        own = urlencode([pair for pair in pairs if pair[1]])
        return "&".join(filter(None, [self.params.parameters(), own]))

    @property
    def page_params(self) -> PageParams:
        """Return the selected region as parameters of the other pages."""
        if self.picked is None:
            return self.params
        start, end = self.picked
        # URLs have whole seconds: round the end up, rather including a profile more than one fewer.
        end = parse_time(time_text(end)) + timedelta(seconds=1 if end.microsecond else 0)
        return replace(self.params, span=end - parse_time(time_text(start)), end=end)


def read(query: QueryDict, now: datetime) -> tuple[ProfileQuery, tuple[str, ...]]:
    """Parse the parameters; return them with a notice for each invalid one."""
    reading = read_asked(without(query, "order"), now)
    order, unordered = _order(query.get("order", ""))
    picked, unpicked = _picked(query.get("pick_from", ""), query.get("pick_to", ""))
    return ProfileQuery(
        # A single profile belongs on the flame page.
        params=replace(reading.params.of_the_data(), profile=""),
        picked=picked,
        order=order,
        page=query.get("page", "")[:_LONGEST_PAGE],
        table=query.get("table") == "1",
    ), (*reading.notices, *unordered, *unpicked)


def _order(text: str) -> tuple[ProfileOrder, tuple[str, ...]]:
    try:
        return ProfileOrder(text or ProfileOrder.NEWEST), ()
    except ValueError:
        return ProfileOrder.NEWEST, (_unread("order", text),)


def _picked(start: str, end: str) -> tuple[tuple[datetime, datetime] | None, tuple[str, ...]]:
    if not start and not end:
        return None, ()
    try:
        picked = parse_time(start), parse_time(end)
    except (ValueError, OverflowError):
        picked = None
    if picked and timedelta(0) < picked[1] - picked[0] <= LONGEST_SPAN:
        return picked, ()
    return None, (_unread("pick_from", f"{start}…{end}"),)


def moment_text(time: datetime) -> str:
    """Format a time with microseconds, as the steps of a heat map need not be whole seconds."""
    return time.isoformat().replace("+00:00", "Z")


def _unread(name: str, value: str) -> str:
    sentence = _("“%(name)s=%(value)s” in the address could not be read and was left out.")
    return sentence % {"name": name, "value": value[:60]}
