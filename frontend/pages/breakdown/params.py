"""URL parameters of the breakdown page: label, time steps, order and page of the table."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter
from urllib.parse import urlencode

from endpoints.params import parameter, values
from endpoints.params.lists import GROUP_BY, STEP
from endpoints.params.parameter import Repeated
from endpoints.params.reader import LenientReader
from frontend.components.charts.time_steps import default_step, read_step
from frontend.params.formats import span_text
from frontend.params.list_params import PAGE
from frontend.params.notices import list_notices
from frontend.params.page_params import PageParams
from frontend.params.restrictions import read_data_params
from frontend.params.url_parameter import format_parameters, read_parameters, url_parameter
from profiles.query import Grouping, GroupKind

DEFAULT_GROUPING = Grouping(GroupKind.VERSION)
SORTS = ("value", "mean", "change", "profiles", "name")
SORT = parameter.sort("sort", "Column that sorts the values", SORTS)
PICK = Repeated("pick", "Values to compare", values.short, values.cut, most_used=2)
COMPARE = parameter.flag("compare", "`1` leads to the comparison of two picked values")


@dataclass(frozen=True, slots=True)
class BreakdownQuery:
    params: PageParams
    group_by: Grouping = url_parameter(
        GROUP_BY,
        default=DEFAULT_GROUPING,
        format=attrgetter("parameter"),
        depends_on=["service"],
    )
    # None: chosen by the length of the range
    step: timedelta | None = url_parameter(STEP, format=span_text)
    sort: str = url_parameter(SORT)
    page: int = url_parameter(PAGE)  # of the table

    @property
    def shown_step(self) -> timedelta:
        return self.step or default_step(self.params.span)

    def parameters(self) -> str:
        """Return the query string of the whole state, without parameters that have defaults."""
        return urlencode([*self.params.pairs(), *format_parameters(self)])

    def only(self, value: str | None) -> PageParams:
        """Return the parameters of another page that shows one value of the label, None: unset."""
        unset = tuple(each for each in self.params.unset if each != self.group_by)
        if value is None:
            unset = (*unset, self.group_by)
        values = () if value is None else (value,)
        return replace(self.params, unset=unset).restrict_label(self.group_by, values)


def read(reader: LenientReader, now: datetime) -> tuple[BreakdownQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    params = read_data_params(reader, now, "breakdown")
    step = read_step(reader, params.span)
    query = read_parameters(BreakdownQuery, reader, params=params, step=step)
    return query, list_notices(reader)
