"""URL parameters shared by the pages: selection and view, see docs/reference/urls.md."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from endpoints.params import values
from endpoints.params.selection import DEFAULT_SPAN
from endpoints.params.view import filter_text, parse_filter
from profiles.query import BadFilterPattern, Metric, Order, Selection, Shape, View, ViewFilter
from projects.profile_types import ProfileType

_T = TypeVar("_T")
_MOST_FILTERS = 20
_MOST_VALUES = 50  # values of one repeated parameter

SORTS = ("self", "total", "count", "name")
COLOURS = ("package", "self", "total")
VIEWS = ("flame", "bottomup", "list")
ORDERS = ("weight", "name")
DEFAULT_SORT, DEFAULT_COLOUR = SORTS[0], COLOURS[0]
DEFAULT_VIEW, DEFAULT_ORDER = VIEWS[0], ORDERS[0]
LABEL = "label."  # prefix of label parameters
_MOST_LABELS = 10
_LONGEST_NAME = 10_000  # characters of a function name


@dataclass(frozen=True, slots=True)
class PageParams:
    """Parameters of a page; missing or invalid ones have their default."""

    service: str = ""  # "": the service seen last
    type: ProfileType | None = None
    zones: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    span: timedelta = DEFAULT_SPAN
    end: datetime | None = None  # None: now, moving with the clock
    weights: tuple[int, int] | None = None  # minimum and maximum weight of a profile
    profile: str = ""  # id of a single profile
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (name, allowed values)
    weight: float | None = None  # the heaviest n percent of profiles
    metric: str = ""  # "": the type's default
    filters: tuple[ViewFilter, ...] = ()
    view: str = DEFAULT_VIEW
    focus: str = ""  # full name of a function
    root: int | None = None  # id of a node: only the stacks below it
    order: str = DEFAULT_ORDER  # of sibling frames
    recursion: bool = False  # fold recursive calls
    search: str = ""
    sort: str = DEFAULT_SORT
    reverse: bool = False
    colour: str = DEFAULT_COLOUR
    frame: str = ""  # id of the node zoomed to full width
    all_rows: bool = False

    def selection(self, project: int, service: str, of: ProfileType, now: datetime) -> Selection:
        end = self.end or now
        return Selection(
            project=project,
            service=service,
            type=of,
            start=end - self.span,
            end=end,
            zones=self.zones,
            versions=self.versions,
            labels=self.labels,
            weight=self.weight,
            weights=self.weights,
            profile=self.profile,
        )

    def shown(self, metric: Metric | None) -> View:
        """Return the view of the selected profiles; the list view uses the top-down shape."""
        return View(
            metric=metric,
            filters=self.filters,
            shape=Shape.BOTTOM_UP if self.view == Shape.BOTTOM_UP else Shape.TOP_DOWN,
            focus=self.focus or None,
            root=self.root,
            order=Order(self.order),
        )

    def of_the_data(self) -> "PageParams":
        """Return the parameters without those that only affect the page, not the query result."""
        page = PageParams()
        return replace(
            self,
            view=self.view if self.view == Shape.BOTTOM_UP else DEFAULT_VIEW,
            recursion=page.recursion,
            search=page.search,
            colour=page.colour,
            frame=page.frame,
            sort=page.sort,
            reverse=page.reverse,
            all_rows=page.all_rows,
        )

    def parameters(self) -> str:
        """Return the query string, without parameters that have their default."""
        pairs = [
            ("service", self.service),
            ("type", self.type or ""),
            *(("zone", zone) for zone in self.zones),
            *(("version", version) for version in self.versions),
            ("span", span_text(self.span)),
            ("end", time_text(self.end) if self.end else ""),
            ("weights", weights_text(self.weights) if self.weights else ""),
            ("profile", self.profile),
            *((LABEL + name, value) for name, allowed in self.labels for value in allowed),
            ("weight", percent_text(self.weight) if self.weight else ""),
            ("metric", self.metric),
            *(("f", filter_text(each)) for each in self.filters),
            ("view", self.view if self.view != DEFAULT_VIEW else ""),
            ("focus", self.focus),
            ("root", "" if self.root is None else f"{self.root:016x}"),
            ("order", self.order if self.order != DEFAULT_ORDER else ""),
            ("recursion", "folded" if self.recursion else ""),
            ("search", self.search),
            ("sort", self.sort_text),
            ("colour", self.colour if self.colour != DEFAULT_COLOUR else ""),
            ("frame", self.frame),
            ("all", "1" if self.all_rows else ""),
        ]
        return urlencode([(name, value) for name, value in pairs if value])

    def sorted_by(self, column: str) -> "PageParams":
        """Return the parameters sorted by a column; the current sort column is reversed."""
        return replace(self, sort=column, reverse=self.sort == column and not self.reverse)

    @property
    def sort_text(self) -> str:
        """Return the value of the `sort` parameter; "" for the default."""
        if self.reverse:
            return f"-{self.sort}"
        return self.sort if self.sort != DEFAULT_SORT else ""


@dataclass(frozen=True, slots=True)
class ParsedParams:
    """Parsed parameters, with a notice for each invalid one."""

    params: PageParams
    notices: tuple[str, ...]


def read(query: QueryDict, now: datetime) -> ParsedParams:
    reader = _Reader(query, now)
    return ParsedParams(reader.params(), tuple(reader.notices))


def without(query: QueryDict, *names: str) -> QueryDict:
    """Return the query without parameters whose meaning differs on a page."""
    left = query.copy()
    for name in names:
        left.pop(name, None)
    return left


class _Reader:
    def __init__(self, query: QueryDict, now: datetime) -> None:
        self.query = query
        self.now = now
        self.notices: list[str] = []

    def params(self) -> PageParams:
        span, end = self._range()
        sort = self.query.get("sort", DEFAULT_SORT)
        return PageParams(
            service=_plain(self.query.get("service", "")),
            type=self._read("type", ProfileType, None),
            zones=self._several("zone"),
            versions=self._several("version"),
            span=span,
            end=end,
            weights=self._read("weights", values.weights, None),
            profile=_plain(self.query.get("profile", "")),
            labels=self._labels(),
            weight=self._read("weight", values.percent, None),
            metric=_plain(self.query.get("metric", "")),
            filters=self._filters(),
            view=self._one_of("view", self.query.get("view", DEFAULT_VIEW), VIEWS),
            focus=self.query.get("focus", "").replace("\0", "")[:_LONGEST_NAME],
            root=self._read("root", values.node, None),
            order=self._one_of("order", self.query.get("order", DEFAULT_ORDER), ORDERS),
            recursion=self.query.get("recursion") == "folded",
            search=_plain(self.query.get("search", "")),
            sort=self._one_of("sort", sort.removeprefix("-"), SORTS),
            reverse=sort.startswith("-"),
            colour=self._one_of("colour", self.query.get("colour", DEFAULT_COLOUR), COLOURS),
            frame=self._read("frame", lambda text: f"{values.node(text):016x}", "") or "",
            all_rows=self.query.get("all") == "1",
        )

    def _labels(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        names = sorted(name for name in self.query if name.startswith(LABEL))[:_MOST_LABELS]
        found = ((_plain(name.removeprefix(LABEL)), self._several(name)) for name in names)
        return tuple((name, allowed) for name, allowed in found if name and allowed)

    def _filters(self) -> tuple[ViewFilter, ...]:
        texts = self.query.getlist("f")
        found = []
        for text in texts[:_MOST_FILTERS]:
            try:
                found.append(parse_filter(text.replace("\0", "")))
            except BadFilterPattern as error:
                self.notices.append(str(error))
            except ValueError:
                self._notice("f", text)
        if len(texts) > _MOST_FILTERS:
            sentence = _("The address has more than %(n)d filters; the others were left out.")
            self.notices.append(sentence % {"n": _MOST_FILTERS})
        return tuple(dict.fromkeys(found))

    def _range(self) -> tuple[timedelta, datetime | None]:
        """Return span and end, from the parameters `from` and `to` or `span` and `end`."""
        end_name = "to" if "from" in self.query or "to" in self.query else "end"
        end = self._read(end_name, self._time, None)
        start = self._read("from", self._time, None)
        if start is None:
            return self._read("span", values.span, DEFAULT_SPAN) or DEFAULT_SPAN, end
        span = (end or self.now) - start
        if timedelta(0) < span <= values.LONGEST_SPAN:
            return span, end
        self._notice("from", self.query.get("from", ""))
        return DEFAULT_SPAN, end

    def _time(self, text: str) -> datetime | None:
        return None if text == "now" else parse_time(text)

    def _several(self, name: str) -> tuple[str, ...]:
        texts = self.query.getlist(name)
        return tuple(dict.fromkeys(_plain(text) for text in texts if text))[:_MOST_VALUES]

    def _one_of(self, name: str, value: str, allowed: tuple[str, ...]) -> str:
        if value not in allowed:
            self._notice(name, value)
            return allowed[0]
        return value

    def _read(self, name: str, parse: Callable[[str], _T], default: _T | None) -> _T | None:
        text = self.query.get(name, "")
        if not text:
            return default
        try:
            return parse(text)
        except (ValueError, OverflowError):
            self._notice(name, text)
            return default

    def _notice(self, name: str, value: str) -> None:
        sentence = _("“%(name)s=%(value)s” in the address could not be read and was left out.")
        self.notices.append(sentence % {"name": name, "value": value[:60]})


def span_text(span: timedelta) -> str:
    """Return the shortest text that parses as this span, in whole seconds and 1 s at least."""
    seconds = max(1, round(span.total_seconds()))
    for unit in ("d", "h", "m"):
        if seconds % values.UNITS[unit] == 0:
            return f"{seconds // values.UNITS[unit]}{unit}"
    return f"{seconds}s"


def parse_time(text: str) -> datetime:
    """Parse an RFC 3339 time; without a time zone it is UTC. Raise `ValueError` otherwise."""
    time = datetime.fromisoformat(text)
    if time.year in values.YEARS:
        time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    if time.year not in values.YEARS:  # in its own zone, or in UTC
        raise ValueError(text)
    return time


def time_text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def percent_text(percent: float) -> str:
    """Return the shortest text that parses as this percentage, without an exponent."""
    return f"{percent:.6f}".rstrip("0").rstrip(".")


def weights_text(weights: tuple[int, int]) -> str:
    return f"{weights[0]}..{weights[1]}"


def _plain(text: str) -> str:
    """Remove NUL, which PostgreSQL rejects in text, and limit the length."""
    return text.replace("\0", "")[: values.MAX_TEXT]
