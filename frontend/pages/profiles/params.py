"""URL parameters of the profiles page: selection, order and page of the list."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from endpoints.params import values
from endpoints.params.lists import CURSOR, PROFILE_ORDER
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from frontend.params.formats import precise_time_text
from frontend.params.notices import list_notices
from frontend.params.page_params import PageParams, page_params
from frontend.params.restrictions import restrict
from frontend.params.url_parameter import (
    format_parameters,
    read_parameters,
    url_flag,
    url_parameter,
)
from profiles.query import ProfileOrder, ProfileSelection
from projects.profile_types import ProfileType

PICK_FROM, PICK_TO = (
    Parameter(name, meaning, values.time, None, values.with_zone)
    for name, meaning in (
        ("pick_from", "Start of the part of the heat map that is selected"),
        ("pick_to", "End of that part (exclusive)"),
    )
)


@dataclass(frozen=True, slots=True)
class ProfileQuery:
    """Parameters of the profiles page; `params` has the range and the weights."""

    params: PageParams
    # selected part of the range; the end is exclusive
    pick_from: datetime | None = url_parameter(
        PICK_FROM, format=precise_time_text, depends_on=["range", "span", "end"]
    )
    pick_to: datetime | None = url_parameter(
        PICK_TO, format=precise_time_text, depends_on=["range", "span", "end"]
    )
    order: ProfileOrder = url_parameter(PROFILE_ORDER)
    # show the heat map as a table
    table: bool = url_flag("table", "`1` shows the heat map as a table")
    page: str = url_parameter(CURSOR)  # cursor of the list's page; "" for the first

    @property
    def picked(self) -> tuple[datetime, datetime] | None:
        """Return the selected part of the range, if there is one."""
        return (self.pick_from, self.pick_to) if self.pick_from and self.pick_to else None

    @property
    def narrowed(self) -> bool:
        return bool(self.picked or self.params.weights)

    def selection(
        self, project: int, service: str, type_: ProfileType, now: datetime
    ) -> ProfileSelection:
        """Return the listed profiles: the selected region of the heat map, or the whole range."""
        whole = self.params.profile_selection(project, service, type_, now)
        if self.picked is None:
            return whole
        start, end = self.picked
        return replace(whole, start=max(start, whole.start), end=min(end, whole.end))

    def parameters(self) -> str:
        return urlencode([*self.params.pairs(), *format_parameters(self)])

    @property
    def page_params(self) -> PageParams:
        """Return the selected region as parameters of the other pages."""
        if self.picked is None:
            return self.params
        start, end = self.picked
        # URLs have whole seconds: round the end up, rather including a profile more than one fewer.
        end = end.replace(microsecond=0) + timedelta(seconds=1 if end.microsecond else 0)
        return replace(self.params, span=end - start.replace(microsecond=0), end=end)


def read(reader: LenientReader, now: datetime) -> tuple[ProfileQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    params = page_params(reader.without(PROFILE_ORDER.name), now)
    pick_from, pick_to = _read_picked(reader)
    query = read_parameters(
        ProfileQuery,
        reader,
        params=restrict(params.data_params(), "profiles"),
        pick_from=pick_from,
        pick_to=pick_to,
    )
    return query, list_notices(reader)


def _read_picked(
    reader: LenientReader,
) -> tuple[datetime, datetime] | tuple[None, None]:
    if not reader.has(PICK_FROM, PICK_TO):
        return None, None
    texts = reader.text(PICK_FROM), reader.text(PICK_TO)
    try:
        start, end = (values.time(values.with_zone(text)) for text in texts)
        if start >= end:
            raise ValueError("The start has to be before the end.")
        if end - start > values.LONGEST_SPAN:
            raise ValueError("The range is too long.")
    except (ValueError, OverflowError) as error:
        reader.reject(PICK_FROM, "…".join(texts), error)
        return None, None
    return start, end
