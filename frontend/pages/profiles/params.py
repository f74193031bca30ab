"""URL parameters of the profiles page: selection, order and page of the list."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from endpoints.params import parameter, values
from endpoints.params.lists import CURSOR, PROFILE_ORDER
from endpoints.params.reader import LenientReader
from frontend.queries.notices import notices_of
from frontend.queries.params import PageParams, page_params
from frontend.queries.restrictions import restrict
from profiles.query import ProfileOrder, Selection
from projects.profile_types import ProfileType

PICK_FROM = parameter.text("pick_from", "Start of the part of the heat map that is selected")
PICK_TO = parameter.text("pick_to", "End of that part (exclusive)")
TABLE = parameter.flag("table", "`1` shows the heat map as a table")


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
        end = end.replace(microsecond=0) + timedelta(seconds=1 if end.microsecond else 0)
        return replace(self.params, span=end - start.replace(microsecond=0), end=end)


def read(of: LenientReader, now: datetime) -> tuple[ProfileQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    params = page_params(of.without(PROFILE_ORDER.name), now)
    query = ProfileQuery(
        params=restrict(params.of_the_data(), "profiles"),
        order=of.read(PROFILE_ORDER),
        picked=_picked(of),
        page=of.read(CURSOR),
        table=of.read(TABLE),
    )
    return query, notices_of(of)


def _picked(of: LenientReader) -> tuple[datetime, datetime] | None:
    if not of.has(PICK_FROM, PICK_TO):
        return None
    texts = of.text(PICK_FROM), of.text(PICK_TO)
    try:
        start, end = (values.time(values.with_zone(text)) for text in texts)
        if start >= end:
            raise ValueError("The start has to be before the end.")
        if end - start > values.LONGEST_SPAN:
            raise ValueError("The range is too long.")
    except (ValueError, OverflowError) as error:
        of.reject(PICK_FROM, "…".join(texts), error)
        return None
    return start, end


def moment_text(time: datetime) -> str:
    """Format a time with microseconds, as the steps of a heat map need not be whole seconds."""
    return time.isoformat().replace("+00:00", "Z")
