"""URL parameters of the history page: functions and time steps."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from endpoints.params import values
from frontend.queries.params import DEFAULT_VIEW, PageParams, span_text, without
from frontend.queries.params import read as read_asked

DEFAULT_SPAN = timedelta(days=7)
STEPS = tuple(
    timedelta(seconds=seconds) for seconds in (60, 300, 900, 3600, 6 * 3600, 86400, 7 * 86400)
)
MOST_STEPS = 400
MOST_CHOSEN = 5  # selected functions: one per dash pattern of the charts
_FEWEST = 24  # steps of a range when the URL gives no step
_LONGEST = 512


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    params: PageParams
    step: timedelta | None = None  # None: chosen by the length of the range
    functions: tuple[str, ...] = ()  # function names; empty: the top functions by self
    top: int = MOST_CHOSEN  # number of top functions
    percent: bool = False
    show: str = ""  # regular expression that function names must match
    hide: str = ""  # regular expression that function names must not match

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


def default_step(span: timedelta) -> timedelta:
    """Return the longest step that gives at least 24 points: a day for thirty days."""
    return max((step for step in STEPS if span / step >= _FEWEST), default=STEPS[0])


def steps_for(span: timedelta) -> list[timedelta]:
    """Return the steps offered in the menu: those that give 2 to MOST_STEPS points."""
    return [step for step in STEPS if 2 <= span / step <= MOST_STEPS] or [default_step(span)]


def read(query: QueryDict, now: datetime) -> tuple[HistoryQuery, tuple[str, ...]]:
    """Parse the parameters; return them with a notice for each invalid one."""
    own = without(query, "sort", "frame", "all")
    if not {"span", "from", "to"} & own.keys():
        own["span"] = span_text(DEFAULT_SPAN)
    reading = read_asked(own, now)
    plain = reading.params.of_the_data()
    params = replace(plain, view=DEFAULT_VIEW, focus="", root=None, profile="")
    step, unread = _step(query.get("step", ""), params.span)
    top, unranked = _top(query.get("top", ""))
    names = [name.replace("\0", "")[:_LONGEST] for name in query.getlist("function") if name]
    return HistoryQuery(
        params=params,
        step=step,
        functions=tuple(dict.fromkeys(names))[:MOST_CHOSEN],
        top=top,
        percent=query.get("values") == "percent",
        show=query.get("show", "").replace("\0", "")[:_LONGEST],
        hide=query.get("hide", "").replace("\0", "")[:_LONGEST],
    ), (*reading.notices, *unread, *unranked)


def _step(text: str, span: timedelta) -> tuple[timedelta | None, tuple[str, ...]]:
    if not text:
        return None, ()
    try:
        step = values.span(text)
    except ValueError:
        sentence = _("“%(name)s=%(value)s” in the address could not be read and was left out.")
        return None, (sentence % {"name": "step", "value": text[:60]},)
    if span / step <= MOST_STEPS:
        return step, ()
    sentence = _("This range has more than %(n)d steps of that length; longer ones are shown.")
    return None, (sentence % {"n": MOST_STEPS},)


def _top(text: str) -> tuple[int, tuple[str, ...]]:
    if text in {f"{count}" for count in range(1, MOST_CHOSEN + 1)}:
        return int(text), ()
    if not text:
        return MOST_CHOSEN, ()
    sentence = _("“%(name)s=%(value)s” in the address could not be read and was left out.")
    return MOST_CHOSEN, (sentence % {"name": "top", "value": text[:60]},)
