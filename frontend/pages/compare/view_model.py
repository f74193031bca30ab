"""View model of the compare page: two pickers, a summary of each side, and the changes."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _

from frontend.components.charts.version_marks import list_releases
from frontend.components.results import empty_state
from frontend.components.results.comparisons import offer_comparisons, start, with_services
from frontend.components.results.coverage_notices import left_out
from frontend.components.results.empty_state import EmptyStateLinks, with_links
from frontend.components.results.page_context import build_page_context
from frontend.components.selection.filter_chips import chips
from frontend.components.selection.picker import Picker, SampleLabelValues, picker
from frontend.components.selection.selecting import name_context
from frontend.page_query import (
    PageQuery,
    apply_snapshot,
    load_options,
    match_metric,
    metric_notice,
    resolve_page_query,
)
from frontend.pages.compare.changes import Changes, changes
from frontend.pages.compare.comparison import Pair, compare_sides, comparison_version_tag
from frontend.pages.compare.side_labels import chips_of_both, side_labels
from frontend.params.compare_params import SORTS, CompareQuery
from frontend.params.formats import is_reversed, next_sort, sort_column
from frontend.params.page_links import get_carried
from frontend.params.page_params import LIST_VIEW, PageParams, ParsedParams
from frontend.params.restrictions import restrict
from frontend.text import display_names
from frontend.text.units import format_count, format_delta, format_value
from profiles.query import (
    CompareResult,
    DeadlinePassed,
    InvalidQuery,
    OptionsResult,
    ProfileSelection,
    QueryContext,
    SavedTree,
    SavedTreeInfo,
    Selection,
    Untested,
    UntestedReason,
    get_saved_tree,
    run_sample_labels,
)
from projects.models import Project


@dataclass(frozen=True, slots=True)
class Side:
    side_name: str
    selection: Selection
    profiles: int
    average: str  # per profile; "" without profiles
    parameters: str  # query string of the flame page


@dataclass(frozen=True, slots=True)
class CompareColumn:
    key: str  # "" if the column is not sortable
    sort: str  # value of the `sort` parameter
    order: str  # "ascending", "descending", or ""


def pair(query: CompareQuery, page_query: PageQuery) -> Pair:
    """Return the selections of both sides for the service and type of the page query."""
    scope = page_query.project.pk, page_query.selection.service, page_query.selection.type
    return query.selected.selection(*scope, page_query.now), query.baseline.selection(
        *scope, page_query.now
    )


def context(
    queries: QueryContext,
    project: Project,
    query: CompareQuery,
    notices: tuple[str, ...],
    now: datetime,
) -> dict[str, object]:
    """Return the template context; `query` is None if the project has no service."""
    url = reverse("compare", args=[project.project_id])
    reading = ParsedParams(query.selected, notices)

    def build(page_query: PageQuery) -> dict[str, object]:
        return _build_context(page_query, _fix_sides(query, page_query), url)

    return {"query": query} | build_page_context("compare", queries, project, reading, now, build)


def find_new_comparison(
    queries: QueryContext, project: Project, params: PageParams, now: datetime
) -> str:
    """Return the query string of a new comparison; "" without a service, or at the deadline."""
    try:
        with queries.snapshot:
            page_query = resolve_page_query(queries, project, ParsedParams(params, ()), now)
            if page_query is None:
                return ""
            if page_query.snapshot:
                live = with_services(page_query.snapshot, page_query.params, page_query.services)
                return live[0].parameters if live else ""
            options = load_options(page_query.context, page_query.selection)
            return start(
                page_query.params, options, list_releases(page_query.context, page_query.selection)
            )
    except DeadlinePassed:
        return ""


def _fix_sides(query: CompareQuery, page_query: PageQuery) -> CompareQuery:
    """Set the service and type that are shown on both sides, and the ranges of snapshots."""
    service, type_ = page_query.params.service, page_query.params.type
    baseline, selected = (
        replace(_apply_snapshot_range(page_query, side), service=service, type=type_)
        for side in (query.baseline, query.selected)
    )
    return replace(query, baseline=baseline, selected=selected)


def _apply_snapshot_range(page_query: PageQuery, side: PageParams) -> PageParams:
    return (
        apply_snapshot(side, get_saved_tree(page_query.context, side.snapshot))
        if side.snapshot
        else side
    )


def _build_context(page_query: PageQuery, query: CompareQuery, url: str) -> dict[str, object]:
    sides = pair(query, page_query)
    options = load_options(page_query.context, sides[0])
    metric = match_metric(query.selected.metric, options)
    side_parameters = (*page_query.notices, *_equal_sides(sides))
    pickers = _pickers(page_query, query, sides, options)
    shown: dict[str, object] = {
        "query": query,
        "notices": (*side_parameters, *metric_notice(query.selected.metric, metric)),
        **name_context(page_query.selection),
        "carried": get_carried(query.selected),
        "pickers": pickers,
        "labels": side_labels(query, pickers),
        "embed_url": _build_embed_url(page_query.project, query),
        "restrictions": chips_of_both(query.selected),
        "snapshots": _snapshots(page_query, query),
        "comparisons": offer_comparisons(page_query, query.selected, options),
        "chips": chips(query.selected.filters),
        "history": _history(query, page_query),
    }
    try:
        result = compare_sides(page_query.context, query, sides, metric)
    except InvalidQuery as error:
        if query.selected.root is None:
            return shown | {"error": str(error)}
        whole = _build_context(page_query, query.unrooted, url)
        return whole | {"notices": (*side_parameters, str(error))}
    missing = left_out(*result.coverages)
    notices = (*side_parameters, *metric_notice(query.selected.metric, metric), *missing)
    return shown | {"notices": notices} | _result_context(result, query, url)


def _snapshots(page_query: PageQuery, query: CompareQuery) -> tuple[SavedTreeInfo | None, ...]:
    """Return the snapshots of the baseline and of the selected side, None for profiles."""
    sides = query.baseline, query.selected
    return tuple(
        get_saved_tree(page_query.context, side.snapshot) if side.snapshot else None
        for side in sides
    )


def _build_embed_url(project: Project, query: CompareQuery) -> str:
    """Return the URL of the page that makes an image; "" for snapshots, which have none."""
    if query.baseline.snapshot or query.selected.snapshot:
        return ""
    return f"{reverse('embed', args=[project.project_id])}?graph=compare&{query.side_parameters()}"


def _equal_sides(sides: Pair) -> tuple[str, ...]:
    if sides[0] != sides[1]:
        return ()
    return (
        _(
            "Both sides select the same profiles. Choose another version, zone or end time"
            " for the baseline, or one of “Compare to…”."
        ),
    )


def _pickers(
    page_query: PageQuery, query: CompareQuery, sides: Pair, options: OptionsResult
) -> tuple[Picker, Picker]:
    """Return the pickers of the baseline and of the selected side.

    `options` are those of the selected side, and serve both if the time range is the same.
    """
    selected, baseline = sides
    same = _whole(selected) == _whole(baseline)
    of_baseline = options if same else load_options(page_query.context, baseline)
    samples = _samples(page_query, selected)
    samples_of_baseline = samples if same else _samples(page_query, baseline)
    return (
        picker(
            query.baseline, page_query.services, of_baseline, page_query.now, samples_of_baseline
        ),
        picker(query.selected, page_query.services, options, page_query.now, samples),
    )


def _samples(page_query: PageQuery, selection: Selection) -> SampleLabelValues:
    """Return the sample labels to choose from: of all profiles in the side's range."""
    if isinstance(selection, SavedTree):
        return {}
    return run_sample_labels(page_query.context, _whole(selection))


def _whole(selection: Selection) -> Selection:
    """Return all profiles in the selection's range, or its saved tree."""
    if isinstance(selection, SavedTree):
        return selection
    return ProfileSelection(
        selection.project, selection.service, selection.type, selection.start, selection.end
    )


def _history(query: CompareQuery, page_query: PageQuery) -> str:
    """Return the history URL of the selected profiles; the caller appends `function`."""
    here = reverse("history", args=[page_query.project.project_id])
    return f"{here}?{restrict(replace(query.selected, root=None), 'history').parameters()}"


def _result_context(result: CompareResult, query: CompareQuery, url: str) -> dict[str, object]:
    return {
        "result": result,
        "sides": _sides(result, query),
        "metric": display_names.metric_name(result.metric),
        "total": _total(result),
        "untested": explain_no_intervals(result.untested) if result.untested else "",
        "changes": _changes(result, query),
        "columns": _columns(query),
        "seen": comparison_version_tag(result),
        "empty": _empty(result, query, url),
    }


def _sides(result: CompareResult, query: CompareQuery) -> list[Side]:
    """Return the baseline and the selected side."""
    return [
        Side(
            side_name=side_name,
            selection=selection,
            profiles=coverage.profiles,
            average=format_value(total / coverage.profiles, result.metric.unit)
            if coverage.profiles
            else "",
            parameters=replace(side, root=None).parameters(),
        )
        for side_name, side, selection, coverage, total in zip(
            (_("Baseline"), _("Selected")),
            (query.baseline, query.selected),
            reversed(result.selections),
            reversed(result.coverages),
            (result.whole.b_total, result.whole.a_total),
            strict=True,
        )
    ]


def _total(result: CompareResult) -> str:
    """Format the difference of the averages; "" if a side has no profiles."""
    selected, baseline = result.coverages
    if not selected.profiles or not baseline.profiles:
        return ""
    whole = result.whole
    difference = whole.a_total / selected.profiles - whole.b_total / baseline.profiles
    return format_delta(difference, result.metric.unit)


def explain_no_intervals(untested: Untested) -> str:
    """Return why the comparison has no intervals, in the language of the page."""
    values = {"found": format_count(untested.found), "limit": format_count(untested.limit)}
    match untested.reason:
        case UntestedReason.SNAPSHOT:
            return _("No intervals: a snapshot has the sums of its profiles only.")
        case UntestedReason.SAMPLE_LABELS:
            return _("No intervals: samples selected by their labels are not tested.")
        case UntestedReason.TOO_MANY_VALUES:
            sentence = _(
                "No intervals: this view needs %(found)s or more values of individual profiles, and"
                " the limit is %(limit)s. Select fewer profiles."
            )
            return sentence % values
        case UntestedReason.FEW_PROFILES:
            sentence = _(
                "No intervals: each side needs %(limit)s profiles or more, and one has %(found)s."
                " A comparison needs about 30 profiles on each side."
            )
            return sentence % values


def _changes(result: CompareResult, query: CompareQuery) -> Changes:
    return changes(
        result,
        relative=query.relative,
        real=query.real,
        sort=sort_column(query.sort),
        reverse=is_reversed(query.sort),
        whole=query.all_rows,
        search=query.search if query.view == LIST_VIEW else "",
    )


def _columns(query: CompareQuery) -> dict[str, CompareColumn]:
    return {
        key: CompareColumn(key, next_sort(query.sort, key, SORTS[0]), _order(query, key))
        for key in SORTS
    }


def _order(query: CompareQuery, key: str) -> str:
    if sort_column(query.sort) != key:
        return ""
    return "ascending" if is_reversed(query.sort) != (key == "name") else "descending"


def _empty(result: CompareResult, query: CompareQuery, url: str) -> EmptyStateLinks | None:
    """Return the empty state if neither side has profiles; profiles on one side are a result."""
    if any(coverage.profiles for coverage in result.coverages):
        return None
    return with_links(empty_state.nothing_to_compare_state(query.selected), url)
