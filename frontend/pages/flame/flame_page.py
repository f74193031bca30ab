"""View model of the flame page."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.urls import reverse

from endpoints.params.reader import LenientReader
from endpoints.params.selection import LABEL, SAMPLE
from frontend.components.results import empty_state
from frontend.components.results.comparisons import Comparison, offer_comparisons
from frontend.components.results.coverage_notices import left_out
from frontend.components.results.empty_state import EmptyStateLinks, explain_no_profiles, with_links
from frontend.components.selection.filter_chips import Chips, chips
from frontend.components.selection.label_menu import LabelMenu, label_menu
from frontend.components.selection.picker import Picker, picker
from frontend.components.selection.range_menu import RangeMenu, page_range_menu
from frontend.components.selection.restriction_chips import RestrictionChip, restriction_chips
from frontend.page_query import (
    DEADLINE_SECONDS,
    PageQuery,
    load_options,
    match_metric,
    metric_notice,
    version_tag,
)
from frontend.pages.flame import summary
from frontend.pages.flame.controls import Controls, controls
from frontend.pages.flame.function_list import FunctionsPage, functions_page
from frontend.pages.flame.merged_tree import MergedPage, cache_merged, data_address, merge_page
from frontend.params.page_links import flame_url
from frontend.params.page_params import DEFAULT_VIEW, PageParams, page_params
from frontend.params.restrictions import restrict
from frontend.text import display_names
from frontend.text.units import format_count, format_percent, format_value
from profiles.query import (
    Coverage,
    FocusResult,
    InvalidQuery,
    Metric,
    MetricNotFound,
    OptionsResult,
    SavedTreeInfo,
    SavedTreeUnreadable,
    Selection,
    TopResult,
    run_sample_labels,
)
from projects.models import Project

_LEVEL_HEIGHT = 20  # pixels: ROW_HEIGHT of static/flame-graph/graph/draw.js


@dataclass(frozen=True, slots=True)
class FocusSummary:
    """Summary of the focused function; values are averages per profile."""

    name: str
    total: str
    share: str
    stacks: int  # distinct stacks that reach the function
    count: str  # the same number, formatted


@dataclass(frozen=True, slots=True)
class GraphHeights:
    """Heights of the graphs in pixels, kept free until the browser has the call tree."""

    callers: int  # above a focused function; 0 without callers
    graph: int


@dataclass(frozen=True, slots=True)
class Share:
    """Share of the selected profiles that the filters leave; values are averages per profile."""

    shown: str
    whole: str
    percent: str


@dataclass(frozen=True, slots=True)
class FlamePage:
    empty: EmptyStateLinks | None
    params: PageParams  # with the service and type that are shown
    selection: Selection
    type: str
    notices: tuple[str, ...]
    range_menu: RangeMenu
    picker: Picker
    restrictions: list[RestrictionChip]
    coverage: Coverage
    metric: str
    average: summary.Average | None  # None without profiles
    over_time_url: str  # of the chart above the graph
    chips: Chips
    split: str  # name of the label that splits the graph; "" for none
    share: Share | None  # None without filters that change values
    focus: FocusSummary | None
    heights: GraphHeights
    controls: Controls
    functions: FunctionsPage
    type_words: str  # one-line description of the profile type
    history_url: str  # of the same profiles; the caller appends `function`
    comparisons: list[Comparison]
    is_view_reset: bool  # the root or focus in the URL cannot be shown
    tree_url: str
    seen: str  # version tag of the result; changes when there are new profiles
    snapshot: SavedTreeInfo | None
    narrowed: list[str]  # zones, versions and labels that the snapshot was restricted to
    live_url: str  # of the selection that the snapshot was taken of; "" without one


def flame_page(page_query: PageQuery, key: str = "") -> FlamePage:
    """Build the flame page of a page query. Raise `DeadlinePassed` or `InvalidQuery`.

    The merge is cached under `key`, by which the browser requests the tree before it has the page
    (`tree_url`); without it, under the version tag of the result.
    """
    options = load_options(page_query.context, page_query.selection)
    metric = match_metric(page_query.params.metric, options)
    notices = (*page_query.notices, *metric_notice(page_query.params.metric, metric))
    params = replace(page_query.params, metric=page_query.params.metric if metric else "")
    params, results, errors = _merge_nearest(page_query, params, metric, key)
    if key and params != page_query.params:
        # For the request that came before the page.
        cache_merged(page_query.params, page_query.selection, key, results)
    notices = (*notices, *(str(error) for error in errors))
    is_view_reset = any(not isinstance(error, MetricNotFound) for error in errors)
    page_query = replace(page_query, params=params, notices=notices)
    return _build_page(page_query, options, results, is_view_reset, key)


def _merge_nearest(
    page_query: PageQuery, params: PageParams, metric: Metric | None, key: str
) -> tuple[PageParams, MergedPage, list[InvalidQuery]]:
    """Merge with the requested parameters, dropping those that the profiles do not have.

    These are the metric, the root and the focus, then the split; each dropped one adds an error.
    """
    errors: list[InvalidQuery] = []
    while True:
        try:
            page = merge_page(page_query.context, params, page_query.selection, metric, key)
            return params, page, errors
        except MetricNotFound as error:
            # The menu offers the metrics of all zones, versions and labels.
            params, metric = replace(params, metric=""), None
            errors.append(error)
        except SavedTreeUnreadable:
            raise
        except InvalidQuery as error:
            if params.root is not None or params.focus:
                params = replace(params, root=None, focus="", view=DEFAULT_VIEW)
            elif params.split is not None:  # a split tree has more nodes
                params = replace(params, split=None)
            else:
                raise
            errors.append(error)


def timeout_state(project: Project, params: PageParams) -> EmptyStateLinks:
    """Return the empty state for queries that did not finish within DEADLINE_SECONDS."""
    return with_links(empty_state.deadline_state(params, DEADLINE_SECONDS), flame_url(project))


def _build_page(
    page_query: PageQuery,
    options: OptionsResult,
    results: MergedPage,
    is_view_reset: bool,
    key: str,
) -> FlamePage:
    params, top = page_query.params, results.top
    coverage = top.coverage
    samples = run_sample_labels(page_query.context, page_query.selection)
    splits = _splits(page_query, options, samples)
    seen = version_tag(coverage)
    return FlamePage(
        empty=_empty(page_query, options, results),
        params=params,
        selection=page_query.selection,
        type=display_names.type_name(page_query.selection.type),
        notices=(
            *page_query.notices,
            *(page_query.snapshot.warnings if page_query.snapshot else ()),
            *left_out(coverage),
        ),
        range_menu=page_range_menu(page_query),
        picker=picker(params, page_query.services, options, page_query.now, samples),
        restrictions=restriction_chips(params, "flame"),
        coverage=coverage,
        metric=display_names.metric_name(top.metric),
        average=_average(top),
        over_time_url=_data_url(page_query, "flame_over_time", seen),
        chips=chips(params.filters),
        split=display_names.label_name(params.split) if params.split and splits else "",
        share=_share(params, top),
        focus=_focus(page_query, results),
        heights=_heights(results),
        controls=controls(params, top, page_query.project, splits),
        functions=functions_page(
            page_query.context, params, results, page_query.project, key or seen
        ),
        type_words=display_names.type_words(page_query.selection.type),
        history_url=_history_url(page_query),
        comparisons=offer_comparisons(page_query, params, options),
        is_view_reset=is_view_reset,
        tree_url=tree_url(page_query, seen),
        seen=seen,
        snapshot=page_query.snapshot,
        narrowed=_snapshot_restrictions(page_query),
        live_url=_live_url(page_query),
    )


def _snapshot_restrictions(page_query: PageQuery) -> list[str]:
    if page_query.snapshot is None:
        return []
    selected = QueryDict(page_query.snapshot.query)
    prefixes = (LABEL.prefix, SAMPLE.prefix)
    names = ["zone", "version", *(name for name in selected if name.startswith(prefixes))]
    unset = page_params(LenientReader.from_query(selected), page_query.now).unset
    return [
        *(value for name in names for value in selected.getlist(name)),
        *(f"{display_names.label_name(each)} {display_names.NOT_SET}" for each in unset),
    ]


def _live_url(page_query: PageQuery) -> str:
    if page_query.snapshot is None or page_query.snapshot.is_file:
        return ""
    return f"{flame_url(page_query.project)}?{page_query.snapshot.query}"


def _history_url(page_query: PageQuery) -> str:
    """Return the history of the same profiles; "" for a file, which is of no service."""
    if page_query.snapshot and page_query.snapshot.is_file:
        return ""
    data = restrict(page_query.params.data_params(), "history")
    plain = replace(data, view=DEFAULT_VIEW, focus="", root=None, split=None)
    return f"{reverse('history', args=[page_query.project.project_id])}?{plain.parameters()}"


def _splits(page_query: PageQuery, options: OptionsResult, samples: Iterable[str]) -> LabelMenu:
    """Return the labels that can split the graph; the sandwich and the list are never split."""
    if page_query.params.focus or page_query.params.view == "list":
        return []
    return label_menu(page_query, options, samples, page_query.params.split)


def _empty(
    page_query: PageQuery, options: OptionsResult, results: MergedPage
) -> EmptyStateLinks | None:
    coverage = results.top.coverage
    if not coverage.profiles:
        state = explain_no_profiles(page_query, options)
    elif not coverage.total or not results.top.rows:
        state = empty_state.explain_no_values(page_query, coverage)
    else:
        return None
    return with_links(state, flame_url(page_query.project))


def _average(top: TopResult) -> summary.Average | None:
    if not top.coverage.profiles:
        return None
    # Of the selected samples, as are the graph and the chart above it.
    counted = replace(top.coverage, total=top.selected_total)
    return summary.average(top.selection.type, top.metric, counted)


def _share(params: PageParams, top: TopResult) -> Share | None:
    if not (params.filters or params.focus or params.selects_samples) and params.root is None:
        return None
    shown, whole = sum(row.self for row in top.rows), top.coverage.total
    profiles, unit = max(1, top.coverage.profiles), top.metric.unit
    return Share(
        shown=format_value(shown / profiles, unit),
        whole=format_value(whole / profiles, unit),
        percent=format_percent(shown, whole),
    )


def _focus(page_query: PageQuery, results: MergedPage) -> FocusSummary | None:
    found, coverage = results.drawn, results.top.coverage
    if not isinstance(found, FocusResult) or found.row is None:
        return None
    return FocusSummary(
        name=found.row.name,
        total=format_value(found.row.total / max(1, coverage.profiles), found.metric.unit),
        share=format_percent(found.row.total, coverage.total),
        stacks=found.row.count,
        count=format_count(found.row.count),
    )


def _heights(results: MergedPage) -> GraphHeights:
    """Return the heights as the script computes them, for trees with their recursion."""
    found = results.drawn
    if not isinstance(found, FocusResult):
        return GraphHeights(0, _LEVEL_HEIGHT * (1 + found.levels))  # the service is above the roots
    # The function itself is only the root of its callees.
    callers = max(0, found.levels_of_callers - 1)
    return GraphHeights(_LEVEL_HEIGHT * callers, _LEVEL_HEIGHT * found.levels_of_callees)


def tree_url(page_query: PageQuery, seen: str) -> str:
    return _data_url(page_query, "flame_tree", seen)


def _data_url(page_query: PageQuery, name: str, seen: str) -> str:
    """Return the URL of the call tree or of the chart above it, which the page requests."""
    url = reverse(name, args=[page_query.project.project_id])
    return f"{url}?{data_address(page_query.params, seen)}"
