"""URL parameters of the breakdown page: label, time steps, order and page of the table."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from endpoints.params import parameter, values
from endpoints.params.lists import GROUP_BY
from endpoints.params.parameter import Repeated
from endpoints.params.reader import LenientReader
from frontend.components.time_steps import default_step, read_step
from frontend.queries.list_params import PAGE
from frontend.queries.notices import notices_of
from frontend.queries.params import (
    DEFAULT_VIEW,
    OTHER_MEANINGS,
    PageParams,
    page_params,
    span_text,
)
from frontend.queries.restrictions import restrict
from profiles.query import Grouping, GroupKind

DEFAULT_GROUPING = Grouping(GroupKind.VERSION)
SORTS = ("value", "mean", "change", "profiles", "name")
SORT = parameter.sort("sort", "Column that sorts the values", SORTS)
PICK = Repeated("pick", "Values to compare", values.short, values.cut, most_used=2)
COMPARE = parameter.flag("compare", "`1` leads to the comparison of two picked values")


@dataclass(frozen=True, slots=True)
class BreakdownQuery:
    params: PageParams
    group_by: Grouping = DEFAULT_GROUPING
    step: timedelta | None = None  # None: chosen by the length of the range
    sort: str = SORTS[0]
    reverse: bool = False
    page: int = 1  # of the table

    @property
    def shown_step(self) -> timedelta:
        return self.step or default_step(self.params.span)

    def parameters(self) -> str:
        """Return the query string of the whole state, without parameters that have defaults."""
        own = [
            ("group_by", self.group_by.parameter if self.group_by != DEFAULT_GROUPING else ""),
            ("step", span_text(self.step) if self.step else ""),
            ("sort", self.sort_text),
            ("page", f"{self.page}" if self.page > 1 else ""),
        ]
        said = urlencode([pair for pair in own if pair[1]])
        return "&".join(filter(None, [self.params.parameters(), said]))

    @property
    def sort_text(self) -> str:
        """Return the value of the `sort` parameter; "" for the default."""
        if self.reverse:
            return f"-{self.sort}"
        return self.sort if self.sort != SORTS[0] else ""

    def only(self, value: str | None) -> PageParams:
        """Return the parameters of another page that shows one value of the label, None: unset."""
        unset = tuple(each for each in self.params.unset if each != self.group_by)
        if value is None:
            unset = (*unset, self.group_by)
        values = () if value is None else (value,)
        return replace(self.params, unset=unset).narrowed_to(self.group_by, values)


def read(of: LenientReader, now: datetime) -> tuple[BreakdownQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    plain = restrict(page_params(of.without(*OTHER_MEANINGS), now).of_the_data(), "breakdown")
    sort = of.read(SORT)
    query = BreakdownQuery(
        params=replace(plain, view=DEFAULT_VIEW, root=None),
        group_by=of.read(GROUP_BY) or DEFAULT_GROUPING,
        step=read_step(of, plain.span),
        sort=sort.removeprefix("-"),
        reverse=sort.startswith("-"),
        page=of.read(PAGE),
    )
    return query, notices_of(of)
