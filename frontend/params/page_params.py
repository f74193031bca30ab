"""URL parameters shared by the pages: selection and view, see docs/reference/urls.md."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from common.time_text import time_text
from endpoints.params import parameter, values
from endpoints.params.lists import FUNCTION_SORT
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import (
    DEFAULT_RANGE,
    DEFAULT_SPAN,
    END,
    FROM,
    LABEL,
    PROFILE,
    SAMPLE,
    SERVICE,
    SPAN,
    TO,
    TYPE,
    UNSET,
    VERSION,
    WEIGHT,
    WEIGHTS,
    ZONE,
    Labels,
    TimeRange,
    read_range,
    with_unset,
)
from endpoints.params.view import FILTER, FOCUS, METRIC, ROOT, SPLIT, filter_text
from frontend.params.formats import (
    node_text,
    percent_text,
    sort_column,
    span_text,
    total_range_text,
)
from frontend.params.notices import Notice, list_notices
from frontend.params.url_parameter import (
    Pair,
    declare_dependents,
    format_parameters,
    read_parameters,
    reset_display_parameters,
    url_flag,
    url_parameter,
    url_parameters,
)
from profiles.query import (
    Grouping,
    GroupKind,
    Metric,
    Order,
    ProfileSelection,
    SavedTree,
    Selection,
    Shape,
    View,
    ViewFilter,
)
from projects.profile_types import ProfileType

LIST_VIEW = "list"  # without a graph
VIEWS = (*(shape.value for shape in Shape), LIST_VIEW)
VIEW = parameter.choice("view", "Direction of the graph, or the list", VIEWS)
ORDER = parameter.member("order", "Order of siblings", Order.VALUE)
COLOUR = parameter.choice("colour", "Colours of the graph", ("package", "self", "total"))
SEARCH = parameter.text("search", "Pattern of the search box")
FRAME = Parameter(
    "frame",
    "Id of the node that the graph zooms to",
    lambda text: f"{values.node(text):016x}",
    "",
)
SNAPSHOT = parameter.text("snapshot", "Id of the snapshot to show instead of profiles", 32)
PREVIEW = parameter.flag("preview", "`1` returns the largest nodes of a large tree")
SEEN = parameter.text("seen", "Version tag of the profiles that the page shows", 100)
# Other pages use these names for parameters of their own, or ignore them.
FLAME_PAGE_NAMES = (FUNCTION_SORT.name, FRAME.name, "all", SPLIT.name)

DEFAULT_VIEW = VIEW.default

# Ids of nodes are those of one tree: other filters do not change them, so the zoom stays.
_RENUMBERING_FILTERS = ("f=from", "f=hideframes")
_RANGE = "range"  # both ends at once, selected on a chart

declare_dependents([FROM.name, TO.name], [_RANGE, SPAN.name, END.name])


@dataclass(frozen=True, slots=True)
class PageParams:
    """Parameters of a page; missing or invalid ones have their default.

    The order of the fields is that of the parameters in a URL.
    """

    service: str = url_parameter(SERVICE)  # "": the service seen last
    type: ProfileType | None = url_parameter(TYPE, depends_on=["service"])
    zones: tuple[str, ...] = url_parameter(ZONE, depends_on=["service"])
    versions: tuple[str, ...] = url_parameter(VERSION, depends_on=["service"])
    span: timedelta = url_parameter(
        SPAN,
        default=DEFAULT_SPAN,
        format=span_text,
        is_always_written=True,
        depends_on=[_RANGE],
    )
    # None: now, moving with the clock
    end: datetime | None = url_parameter(END, format=time_text, depends_on=[_RANGE])
    # minimum and maximum total of a profile
    weights: tuple[int, int] | None = url_parameter(
        WEIGHTS, format=total_range_text, depends_on=["type"]
    )
    profile: str = url_parameter(PROFILE, depends_on=["type", _RANGE])  # id of a single profile
    # (name, allowed values), of profiles and of their samples
    labels: Labels = url_parameter(LABEL, depends_on=["service"])
    samples: Labels = url_parameter(SAMPLE, depends_on=["service"])
    # labels that profiles or samples must not have
    unset: tuple[Grouping, ...] = url_parameter(
        UNSET, format=attrgetter("parameter"), depends_on=["service"]
    )
    # the top n percent of profiles by total
    weight: float | None = url_parameter(WEIGHT, format=percent_text, depends_on=["type"])
    metric: str = url_parameter(METRIC, depends_on=["type"])  # "": the type's default
    filters: tuple[ViewFilter, ...] = url_parameter(FILTER, format=filter_text)
    view: str = url_parameter(VIEW, depends_on=["focus"])
    focus: str = url_parameter(FOCUS, depends_on=["service", "view"])  # full name of a function
    # id of a node: only the stacks below it
    root: int | None = url_parameter(
        ROOT,
        format=node_text,
        depends_on=["type", "view", "focus", "split", *_RENUMBERING_FILTERS],
    )
    # label whose values are roots of the graph
    split: Grouping | None = url_parameter(
        SPLIT, format=attrgetter("parameter"), depends_on=["service"]
    )
    order: Order = url_parameter(ORDER)  # of sibling frames
    recursion: bool = url_flag(
        "recursion", "`folded` collapses recursion", "folded", is_display_only=True
    )
    flip: bool = url_flag(
        "flip", "`bottom` draws the root at the bottom", "bottom", is_display_only=True
    )
    search: str = url_parameter(SEARCH, is_display_only=True)
    sort: str = url_parameter(FUNCTION_SORT, is_display_only=True)  # column of the function list
    colour: str = url_parameter(COLOUR, is_display_only=True)
    # id of the node zoomed to full width
    frame: str = url_parameter(
        FRAME,
        is_display_only=True,
        depends_on=["view", "focus", "root", "split", *_RENUMBERING_FILTERS],
    )
    all_rows: bool = url_flag(
        "all", "`1` shows every row of the list of functions", is_display_only=True
    )
    # id of the snapshot that is shown instead of profiles
    snapshot: str = url_parameter(SNAPSHOT)
    # URL parameters that the page does not apply; they stay in its links to other pages
    left_out: tuple[Pair, ...] = ()

    @property
    def range(self) -> TimeRange:
        return TimeRange(self.span, self.end)

    @property
    def sort_column(self) -> str:
        return sort_column(self.sort)

    @property
    def selects_samples(self) -> bool:
        """Return whether only some samples of the profiles count."""
        return bool(self.samples) or any(each.kind is GroupKind.SAMPLE for each in self.unset)

    def selection(self, project: int, service: str, type_: ProfileType, now: datetime) -> Selection:
        if self.snapshot:
            end = self.end or now
            return SavedTree(project, self.snapshot, service, type_, end - self.span, end)
        return self.profile_selection(project, service, type_, now)

    def profile_selection(
        self, project: int, service: str, type_: ProfileType, now: datetime
    ) -> ProfileSelection:
        """Return the selected profiles, on a page without saved trees."""
        end = self.end or now
        selection = ProfileSelection(
            project=project,
            service=service,
            type=type_,
            start=end - self.span,
            end=end,
            zones=self.zones,
            versions=self.versions,
            labels=self.labels,
            top_percent=self.weight,
            total_range=self.weights,
            profile=self.profile,
            samples=self.samples,
        )
        return with_unset(selection, self.unset)

    def build_view(self, metric: Metric | None) -> View:
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

    def data_params(self) -> "PageParams":
        """Return the parameters without those that only affect the page, not the query result."""
        view = self.view if self.view == Shape.BOTTOM_UP else DEFAULT_VIEW
        return replace(reset_display_parameters(self), view=view)

    def drop_profile_labels(self) -> "PageParams":
        """Return the parameters without restrictions to zones, versions and labels of profiles.

        Those to labels of samples stay, and so do those to a weight or a single profile.
        """
        unset = tuple(each for each in self.unset if each.kind is GroupKind.SAMPLE)
        return replace(self, zones=(), versions=(), labels=(), unset=unset)

    def drop_sample_labels(self) -> "PageParams":
        """Return the parameters without restrictions to labels of samples; all others stay."""
        unset = tuple(each for each in self.unset if each.kind is not GroupKind.SAMPLE)
        return replace(self, samples=(), unset=unset)

    def restrict_label(self, label: Grouping, values: tuple[str, ...]) -> "PageParams":
        """Return the parameters with only these values of a label allowed; none allow all."""
        match label.kind:
            case GroupKind.VERSION:
                return replace(self, versions=values)
            case GroupKind.ZONE:
                return replace(self, zones=values)
            case GroupKind.LABEL:
                return replace(self, labels=_replace_label(self.labels, label.name, values))
            case GroupKind.SAMPLE:
                return replace(self, samples=_replace_label(self.samples, label.name, values))

    def parameters(self) -> str:
        """Return the query string, without parameters that have their default."""
        return urlencode(self.pairs())

    def pairs(self) -> list[Pair]:
        """Return the URL parameters that differ from their default, in the order of a URL.

        Those that the page leaves out have the same places as on a page that applies them.
        """
        given = format_parameters(self)
        return sorted([*given, *self.left_out], key=_position) if self.left_out else given


@dataclass(frozen=True, slots=True)
class ParsedParams:
    """Parsed parameters, with a notice for each invalid one."""

    params: PageParams
    notices: tuple[str, ...]


def read(reader: LenientReader, now: datetime) -> ParsedParams:
    return ParsedParams(page_params(reader, now), list_notices(reader))


def page_params(
    reader: LenientReader, now: datetime, default: TimeRange = DEFAULT_RANGE
) -> PageParams:
    """Read the parameters that the pages share; the reader collects the invalid ones."""
    range = read_range(reader, now, default)
    filters = _filters(reader)
    return read_parameters(PageParams, reader, span=range.span, end=range.end, filters=filters)


def _filters(reader: LenientReader) -> tuple[ViewFilter, ...]:
    filters = reader.several(FILTER)
    if len(reader.all(FILTER.name)) > FILTER.most_used:
        sentence = _("The address has more than %(n)d filters; the others were left out.")
        reader.reject(FILTER, "", Notice(sentence % {"n": FILTER.most_used}))
    return filters


def _replace_label(labels: Labels, name: str, values: tuple[str, ...]) -> Labels:
    changed = dict(labels) | {name: values}
    return tuple((name, values) for name, values in changed.items() if values)


def _position(pair: Pair) -> int:
    """Return the place of a URL parameter in a URL."""
    name = pair[0]
    names = [each.name for each in url_parameters(PageParams).values()]
    for prefix in (LABEL.prefix, SAMPLE.prefix):
        if name.startswith(prefix):
            return names.index(prefix)
    return names.index(name)
