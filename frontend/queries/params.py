"""URL parameters shared by the pages: selection and view, see docs/reference/urls.md."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from endpoints.params import parameter, values
from endpoints.params.lists import FUNCTION_SORT
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import (
    DEFAULT_RANGE,
    DEFAULT_SPAN,
    LABEL,
    SAMPLE,
    SERVICE,
    TYPE,
    UNSET,
    Labels,
    TimeRange,
    read_narrowing,
    read_range,
    with_unset,
)
from endpoints.params.view import FILTER, FOCUS, METRIC, ROOT, SPLIT, filter_text
from frontend.queries.notices import Notice, notices_of
from profiles.query import Grouping, GroupKind, Metric, Order, Selection, Shape, View, ViewFilter
from projects.profile_types import ProfileType

VIEWS = (*(shape.value for shape in Shape), "list")
VIEW = parameter.choice("view", "Direction of the graph, or the list", VIEWS)
ORDER = parameter.member("order", "Order of siblings", Order.WEIGHT)
COLOUR = parameter.choice("colour", "Colours of the graph", ("package", "self", "total"))
RECURSION = parameter.flag("recursion", "`folded` collapses recursion", "folded")
FLIP = parameter.flag("flip", "`bottom` draws the root at the bottom", "bottom")
SEARCH = parameter.text("search", "Pattern of the search box")
FRAME = Parameter(
    "frame",
    "Id of the node that the graph zooms to",
    lambda text: f"{values.node(text):016x}",
    "",
)
ALL_ROWS = parameter.flag("all", "`1` shows every row of the list of functions")
SNAPSHOT = parameter.text("snapshot", "Id of the snapshot to show instead of profiles", 32)
ONLY_FUNCTIONS = parameter.flag("only", "`functions` leaves the tree out", "functions")
PREVIEW = parameter.flag("preview", "`1` returns the largest nodes of a large tree")
SEEN = parameter.text("seen", "Version tag of the profiles that the page shows", 100)
# Other pages use these names for parameters of their own, or ignore them.
OTHER_MEANINGS = (FUNCTION_SORT.name, FRAME.name, ALL_ROWS.name, SPLIT.name)

DEFAULT_SORT, DEFAULT_COLOUR = FUNCTION_SORT.default, COLOUR.default
DEFAULT_VIEW, DEFAULT_ORDER = VIEW.default, ORDER.default


Pair = tuple[str, str]  # name and value of a URL parameter


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
    samples: tuple[tuple[str, tuple[str, ...]], ...] = ()  # labels of samples, alike
    unset: tuple[Grouping, ...] = ()  # labels that profiles or samples must not have
    weight: float | None = None  # the heaviest n percent of profiles
    metric: str = ""  # "": the type's default
    filters: tuple[ViewFilter, ...] = ()
    view: str = DEFAULT_VIEW
    focus: str = ""  # full name of a function
    root: int | None = None  # id of a node: only the stacks below it
    split: Grouping | None = None  # label whose values are roots of the graph
    order: Order = DEFAULT_ORDER  # of sibling frames
    recursion: bool = False  # fold recursive calls
    flip: bool = False  # the root is at the bottom
    search: str = ""
    sort: str = DEFAULT_SORT
    reverse: bool = False
    colour: str = DEFAULT_COLOUR
    frame: str = ""  # id of the node zoomed to full width
    all_rows: bool = False
    snapshot: str = ""  # id of the snapshot that is shown instead of profiles
    # URL parameters that the page does not apply; they stay in its links to other pages
    left_out: tuple[Pair, ...] = ()

    @property
    def range(self) -> TimeRange:
        return TimeRange(self.span, self.end)

    @property
    def selects_samples(self) -> bool:
        """Return whether only some samples of the profiles count."""
        return bool(self.samples) or any(each.kind is GroupKind.SAMPLE for each in self.unset)

    def selection(self, project: int, service: str, of: ProfileType, now: datetime) -> Selection:
        end = self.end or now
        selection = Selection(
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
            snapshot=self.snapshot,
            samples=self.samples,
        )
        return with_unset(selection, self.unset)

    def shown(self, metric: Metric | None) -> View:
        """Return the view of the selected profiles; the list view uses the top-down shape."""
        return View(
            metric=metric,
            filters=self.filters,
            shape=Shape.BOTTOM_UP if self.view == Shape.BOTTOM_UP else Shape.TOP_DOWN,
            focus=self.focus or None,
            root=self.root,
            order=self.order,
            split=self.split,
        )

    def of_the_data(self) -> "PageParams":
        """Return the parameters without those that only affect the page, not the query result."""
        page = PageParams()
        return replace(
            self,
            view=self.view if self.view == Shape.BOTTOM_UP else DEFAULT_VIEW,
            recursion=page.recursion,
            flip=page.flip,
            search=page.search,
            colour=page.colour,
            frame=page.frame,
            sort=page.sort,
            reverse=page.reverse,
            all_rows=page.all_rows,
        )

    def without_profile_labels(self) -> "PageParams":
        """Return the parameters without restrictions to zones, versions and labels of profiles.

        Those to labels of samples stay, and so do those to a weight or a single profile.
        """
        unset = tuple(each for each in self.unset if each.kind is GroupKind.SAMPLE)
        return replace(self, zones=(), versions=(), labels=(), unset=unset)

    def without_sample_labels(self) -> "PageParams":
        """Return the parameters without restrictions to labels of samples; all others stay."""
        unset = tuple(each for each in self.unset if each.kind is not GroupKind.SAMPLE)
        return replace(self, samples=(), unset=unset)

    def narrowed_to(self, label: Grouping, values: tuple[str, ...]) -> "PageParams":
        """Return the parameters with only these values of a label allowed; none allow all."""
        match label.kind:
            case GroupKind.VERSION:
                return replace(self, versions=values)
            case GroupKind.ZONE:
                return replace(self, zones=values)
            case GroupKind.LABEL:
                return replace(self, labels=_replaced(self.labels, label.name, values))
            case GroupKind.SAMPLE:
                return replace(self, samples=_replaced(self.samples, label.name, values))

    def parameters(self) -> str:
        """Return the query string, without parameters that have their default."""
        return urlencode(self.pairs())

    def pairs(self) -> list[Pair]:
        """Return the URL parameters that differ from their default, in the order of a URL.

        Those that the page leaves out have the same places as on a page that applies them.
        """
        pairs = [
            ("service", self.service),
            ("type", self.type or ""),
            *(("zone", zone) for zone in self.zones),
            *(("version", version) for version in self.versions),
            ("span", span_text(self.span)),
            ("end", time_text(self.end) if self.end else ""),
            ("weights", weights_text(self.weights) if self.weights else ""),
            ("profile", self.profile),
            *((LABEL.prefix + name, value) for name, allowed in self.labels for value in allowed),
            *((SAMPLE.prefix + name, value) for name, allowed in self.samples for value in allowed),
            *((UNSET.name, each.parameter) for each in self.unset),
            ("weight", percent_text(self.weight) if self.weight else ""),
            ("metric", self.metric),
            *(("f", filter_text(each)) for each in self.filters),
            ("view", self.view if self.view != DEFAULT_VIEW else ""),
            ("focus", self.focus),
            ("root", "" if self.root is None else f"{self.root:016x}"),
            ("split", self.split.parameter if self.split else ""),
            ("order", self.order if self.order != DEFAULT_ORDER else ""),
            ("recursion", "folded" if self.recursion else ""),
            ("flip", "bottom" if self.flip else ""),
            ("search", self.search),
            ("sort", self.sort_text),
            ("colour", self.colour if self.colour != DEFAULT_COLOUR else ""),
            ("frame", self.frame),
            ("all", "1" if self.all_rows else ""),
            ("snapshot", self.snapshot),
        ]
        given = [(name, value) for name, value in pairs if value]
        return sorted([*given, *self.left_out], key=_position) if self.left_out else given

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


def read(of: LenientReader, now: datetime) -> ParsedParams:
    return ParsedParams(page_params(of, now), notices_of(of))


def page_params(of: LenientReader, now: datetime, default: TimeRange = DEFAULT_RANGE) -> PageParams:
    """Read the parameters that the pages share; `of` collects the invalid ones."""
    within, narrowing = read_range(of, now, default), read_narrowing(of)
    sort = of.read(FUNCTION_SORT)
    return PageParams(
        service=of.read(SERVICE),
        type=of.read(TYPE),
        zones=narrowing.zones,
        versions=narrowing.versions,
        span=within.span,
        end=within.end,
        weights=narrowing.weights,
        profile=narrowing.profile,
        labels=tuple(narrowing.labels.items()),
        samples=tuple(narrowing.samples.items()),
        unset=narrowing.unset,
        weight=narrowing.weight,
        metric=of.read(METRIC),
        filters=_filters(of),
        view=of.read(VIEW),
        focus=of.read(FOCUS),
        root=of.read(ROOT),
        split=of.read(SPLIT),
        order=of.read(ORDER),
        recursion=of.read(RECURSION),
        flip=of.read(FLIP),
        search=of.read(SEARCH),
        sort=sort.removeprefix("-"),
        reverse=sort.startswith("-"),
        colour=of.read(COLOUR),
        frame=of.read(FRAME),
        all_rows=of.read(ALL_ROWS),
        snapshot=of.read(SNAPSHOT),
    )


def _filters(of: LenientReader) -> tuple[ViewFilter, ...]:
    filters = of.several(FILTER)
    if len(of.all(FILTER.name)) > FILTER.most_used:
        sentence = _("The address has more than %(n)d filters; the others were left out.")
        of.reject(FILTER, "", Notice(sentence % {"n": FILTER.most_used}))
    return filters


def _replaced(labels: Labels, name: str, values: tuple[str, ...]) -> Labels:
    changed = dict(labels) | {name: values}
    return tuple((name, values) for name, values in changed.items() if values)


# Names of URL parameters in their order; those of a family have a common prefix.
_ORDER = (
    *("service", "type", "zone", "version", "span", "end", "weights", "profile"),
    *(LABEL.prefix, SAMPLE.prefix, "unset", "weight", "metric", "f", "view", "focus", "root"),
    *("split", "order", "recursion", "flip", "search", "sort", "colour", "frame", "all"),
    "snapshot",
)


def _position(pair: Pair) -> int:
    name = pair[0]
    for prefix in (LABEL.prefix, SAMPLE.prefix):
        if name.startswith(prefix):
            return _ORDER.index(prefix)
    return _ORDER.index(name)


def span_text(span: timedelta) -> str:
    """Return the shortest text that parses as this span, in whole seconds and 1 s at least."""
    seconds = max(1, round(span.total_seconds()))
    for unit in ("d", "h", "m"):
        if seconds % values.UNITS[unit] == 0:
            return f"{seconds // values.UNITS[unit]}{unit}"
    return f"{seconds}s"


def time_text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def percent_text(percent: float) -> str:
    """Return the shortest text that parses as this percentage, without an exponent."""
    return f"{percent:.6f}".rstrip("0").rstrip(".")


def weights_text(weights: tuple[int, int]) -> str:
    return f"{weights[0]}..{weights[1]}"
