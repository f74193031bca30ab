"""URL parameters of the history page: functions and time steps."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlencode

from endpoints.params import parameter, values
from endpoints.params.lists import FUNCTION, STEP
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import DEFAULT_RANGE, FROM, SPAN, TO, TimeRange
from frontend.components.charts.time_steps import default_step, read_step
from frontend.params.formats import span_text
from frontend.params.notices import list_notices
from frontend.params.page_params import PageParams
from frontend.params.restrictions import read_data_params
from frontend.params.url_parameter import (
    format_parameters,
    read_parameters,
    url_flag,
    url_parameter,
)

DEFAULT_SPAN = timedelta(days=7)
MOST_CHOSEN = FUNCTION.most_used  # selected functions: one per dash pattern of the charts

TOP = Parameter(
    "top",
    "Number of functions, chosen by self value",
    partial(values.count, most=MOST_CHOSEN),
    MOST_CHOSEN,
)
SHOW = parameter.text("show", "Regular expression that names of functions must match")
HIDE = parameter.text("hide", "Regular expression that names of functions must not match")


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    params: PageParams
    # None: chosen by the length of the range
    step: timedelta | None = url_parameter(STEP, format=span_text)
    # empty: the top functions by self
    functions: tuple[str, ...] = url_parameter(FUNCTION, depends_on=["service", "top"])
    top: int = url_parameter(TOP, depends_on=["function"])  # number of top functions
    percent: bool = url_flag("values", "`percent` shows shares", "percent")
    show: str = url_parameter(SHOW)
    hide: str = url_parameter(HIDE)

    @property
    def shown_step(self) -> timedelta:
        return self.step or default_step(self.params.span)

    def parameters(self) -> str:
        own = format_parameters(self)
        if self.functions:
            own = [pair for pair in own if pair[0] != TOP.name]
        return urlencode([*self.params.pairs(), *own])


def read(reader: LenientReader, now: datetime) -> tuple[HistoryQuery, tuple[str, ...]]:
    """Read the parameters; return them with a notice for each invalid one."""
    default = DEFAULT_RANGE if reader.has(SPAN, FROM, TO) else TimeRange(DEFAULT_SPAN)
    params = read_data_params(reader, now, "history", default)
    step = read_step(reader, params.span)
    query = read_parameters(HistoryQuery, reader, params=params, step=step)
    return query, list_notices(reader)
