"""URL parameters of the history page: functions and time steps."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlencode

from endpoints.params import parameter, values
from endpoints.params.lists import FUNCTION
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import DEFAULT_RANGE, FROM, SPAN, TO, TimeRange
from frontend.components.time_steps import default_step, read_step
from frontend.queries.notices import notices_of
from frontend.queries.params import (
    DEFAULT_VIEW,
    OTHER_MEANINGS,
    PageParams,
    page_params,
    span_text,
)
from frontend.queries.restrictions import restrict

DEFAULT_SPAN = timedelta(days=7)
MOST_CHOSEN = FUNCTION.most_used  # selected functions: one per dash pattern of the charts

TOP = Parameter(
    "top",
    "Number of functions, chosen by self value",
    partial(values.count, most=MOST_CHOSEN),
    MOST_CHOSEN,
)
PERCENT = parameter.flag("values", "`percent` shows shares", "percent")
SHOW = parameter.text("show", "Regular expression that names of functions must match")
HIDE = parameter.text("hide", "Regular expression that names of functions must not match")


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    params: PageParams
    step: timedelta | None = None  # None: chosen by the length of the range
    functions: tuple[str, ...] = ()  # function names; empty: the top functions by self
    top: int = MOST_CHOSEN  # number of top functions
    percent: bool = False
    show: str = ""
    hide: str = ""

    @property
    def shown_step(self) -> timedelta:
        return self.step or default_step(self.params.span)

    def parameters(self) -> str:
        own = [
            ("step", span_text(self.step) if self.step else ""),
            *(("function", name) for name in self.functions),
            ("top", f"{self.top}" if self.top != MOST_CHOSEN and not self.functions else ""),
            ("values", "percent" if self.percent else ""),
            ("show", self.show),
            ("hide", self.hide),
        ]
        said = urlencode([pair for pair in own if pair[1]])
        return "&".join(filter(None, [self.params.parameters(), said]))


def read(of: LenientReader, now: datetime) -> tuple[HistoryQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    default = DEFAULT_RANGE if of.has(SPAN, FROM, TO) else TimeRange(DEFAULT_SPAN)
    whole = page_params(of.without(*OTHER_MEANINGS), now, default).of_the_data()
    params = replace(restrict(whole, "history"), view=DEFAULT_VIEW, root=None)
    query = HistoryQuery(
        params=params,
        step=read_step(of, params.span),
        functions=of.several(FUNCTION),
        top=of.read(TOP),
        percent=of.read(PERCENT),
        show=of.read(SHOW),
        hide=of.read(HIDE),
    )
    return query, notices_of(of)
