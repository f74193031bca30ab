"""View model of the breakdown page: chart, table of values, and menus."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from findings.costs import load_costs
from frontend.components.charts.chart_notes import ChartNotes, chart_notes
from frontend.components.charts.step_values import StepValues, shorten_heading
from frontend.components.charts.version_marks import list_range_releases
from frontend.components.results.chart_page import ChartPage, build_chart_page
from frontend.components.results.empty_state import explain_no_values
from frontend.components.results.pagination import Pages, paginate
from frontend.components.selection.label_menu import label_menu
from frontend.components.selection.picker import Item
from frontend.page_query import PageQuery
from frontend.pages.breakdown.chart import CHARTED, chart
from frontend.pages.breakdown.params import SORTS, BreakdownQuery
from frontend.pages.breakdown.rates import Rate, get_rate
from frontend.pages.breakdown.value_table import (
    SortHeading,
    ValueRow,
    sort_heading,
    value_name,
    value_rows,
)
from frontend.params.view_address import SIDE
from frontend.text import display_names
from frontend.text.display_names import label_name, label_word
from frontend.text.money import describe_core_hour
from frontend.text.time_ranges import span_name
from frontend.text.units import format_value
from profiles.query import (
    DEFAULT_METRICS,
    MAX_SERIES,
    GroupKind,
    GroupSeries,
    InvalidQuery,
    QueryContext,
    SeriesResult,
    get_deployments,
    run_sample_labels,
    run_series,
)
from projects.models import Project
from projects.profile_types import ProfileType

ROWS = 50  # of a page of the table
_SIDES = 2  # of a comparison


@dataclass(frozen=True, slots=True)
class BreakdownView:
    chart: str  # JSON for <breakdown-chart>
    series: list[str]  # names of the series, heaviest first
    other_name: str  # of the last series, the sum of all other values; "" if there is none
    rows: list[ValueRow]
    headings: dict[str, SortHeading]  # by column
    pages: Pages
    values: int  # number of values, with those that are not listed
    step_headings: list[str]
    steps: list[StepValues]
    step: str  # "1 minute"
    unit: str  # "cores", or "CPU time per profile"
    of_profiles: bool  # whole profiles have the label
    previous: str  # length of the previous period; "" if it has no profiles
    has_costs: bool
    core_hour: str  # price; "" if it is not set


def context(
    queries: QueryContext,
    project: Project,
    query: BreakdownQuery,
    notices: tuple[str, ...],
    now: datetime,
) -> dict[str, object]:
    """Return the template context; `query` is None if the project has no service."""
    return build_chart_page("breakdown", queries, project, query, notices, now, _build_context)


def _build_context(page: ChartPage[BreakdownQuery]) -> dict[str, object]:
    query, page_query, metrics = page.query, page.page_query, page.options.metrics
    samples = run_sample_labels(page_query.context, page_query.selection)
    found: dict[str, object] = {
        "label": label_name(query.group_by),
        "label_word": label_word(query.group_by),
        "groupings": label_menu(page_query, page.options, samples, query.group_by),
        "metrics": [
            Item(each.name, display_names.metric_name(each), each == (page.metric or metrics[0]))
            for each in metrics
        ],
    }
    try:
        result, previous = load_series(page)
    except InvalidQuery as error:
        return found | {"error": str(error)}
    found["notices"] = page.list_notices(result.coverage)
    if not result.coverage.profiles:
        return found | page.empty_context()
    if not any(step.total for step in result.steps):
        return found | page.empty_context(explain_no_values(page_query, result.coverage))
    found["notes"] = marked = chart_notes(page_query.project, result.selection)
    return found | {"shown": _build_view(page, result, previous, marked)}


def load_series(page: ChartPage[BreakdownQuery]) -> tuple[SeriesResult, SeriesResult | None]:
    """Return the series of the range, and the sums of the period of equal length before it.

    The latter is None if they cannot be compared, for example without the metric. Raise
    `InvalidQuery` or `DeadlinePassed`.
    """
    query, page_query = page.query, page.page_query
    selection = page_query.profile_selection
    span = selection.end - selection.start
    view = query.params.build_view(page.metric)
    run = partial(
        run_series, page_query.context, view=view, group_by=query.group_by, size=MAX_SERIES
    )
    result = run(selection, step=query.shown_step)
    before = replace(selection, start=selection.start - span, end=selection.start)
    # The same metric, whichever is the default of the previous period.
    view = replace(view, metric=result.metric)
    try:
        return result, run(before, view=view, step=span)
    except InvalidQuery:
        return result, None


def _build_view(
    page: ChartPage[BreakdownQuery],
    result: SeriesResult,
    previous: SeriesResult | None,
    notes: ChartNotes,
) -> BreakdownView:
    query, context = page.query, page.page_query.context
    costs = None
    if result.metric == DEFAULT_METRICS[ProfileType.CPU]:
        costs = load_costs(page.page_query.project.pk, page.page_query.now)
    duration = sum(step.duration_ns for step in result.steps)
    rate = get_rate(result.selection.type, result.metric, duration)
    rows = value_rows(query, result, previous, rate, costs)
    pages = paginate(len(rows), ROWS, query.page)
    charted, rest = result.values[:CHARTED], _rest(result)
    series = [*charted, *([rest] if rest else [])]
    names = [value_name(each.value) for each in charted]
    metric = display_names.metric_name(result.metric)
    unit = metric
    if not rate.is_per_second:
        unit = _("%(metric)s per profile") % {"metric": metric}
    elif not rate.unit.endswith("/s"):
        unit = _("%(metric)s in %(unit)s") % {"metric": metric, "unit": _unit_name(rate.unit)}
    others = result.other_values + max(0, len(result.values) - CHARTED)
    sentence = ngettext("Other (%(n)s value)", "Other (%(n)s values)", others)
    other_names = [sentence % {"n": others}] if others else []
    releases = list_range_releases(context, result.selection)
    return BreakdownView(
        chart=chart(result, series, names, others, rate, releases, notes),
        series=names,
        other_name="".join(other_names),
        rows=rows[pages.first : pages.behind],
        headings={column: sort_heading(query, column) for column in SORTS},
        pages=pages,
        values=len(result.values) + result.other_values,
        step_headings=[shorten_heading(name) for name in (*names, *other_names)],
        steps=_steps(result, series, rate),
        step=span_name(timedelta(seconds=result.step_seconds)),
        unit=unit,
        of_profiles=query.group_by.kind is not GroupKind.SAMPLE,
        previous=span_name(query.params.span) if previous and previous.coverage.profiles else "",
        has_costs=any(row.cost for row in rows),
        core_hour=describe_core_hour(costs.prices) if costs else "",
    )


def _unit_name(unit: str) -> str:
    return _("cores") if unit == "cores" else _("threads")


def _rest(result: SeriesResult) -> GroupSeries | None:
    """Return the sum of all values without a series of their own in the chart."""
    rest = [*result.values[CHARTED:], *([result.other] if result.other else [])]
    if not rest:
        return None
    totals = tuple(sum(column) for column in zip(*(each.totals for each in rest), strict=True))
    return GroupSeries(None, sum(totals), totals, None, None)


def comparison(page_query: PageQuery, query: BreakdownQuery, picks: Sequence[str]) -> str | None:
    """Return the query string of the comparison of two values; None if there are not two.

    The newer of two versions is the selected side, otherwise the first of the values.
    """
    if len(picks) != len({*picks}) or len(picks) != _SIDES:
        return None
    query = replace(query, params=page_query.params)
    selected, baseline = picks
    if query.group_by.kind is GroupKind.VERSION:
        # deployments are in order, the newest first
        versions = [
            each.version
            for each in get_deployments(page_query.context)
            if each.service == page_query.selection.service
        ]
        oldest = {version: i for i, version in enumerate(versions)}
        if oldest.get(baseline, -1) < oldest.get(selected, -1):
            selected, baseline = baseline, selected
    override = urlencode({SIDE + query.group_by.parameter: baseline})
    return f"{query.only(selected).parameters()}&{override}"


def _steps(result: SeriesResult, series: Sequence[GroupSeries], rate: Rate) -> list[StepValues]:
    rows = []
    for i, step in enumerate(result.steps):
        values = [rate.compute(each.totals[i], step.profiles, step.duration_ns) for each in series]
        texts = ["" if value is None else format_value(value, rate.unit) for value in values]
        rows.append(StepValues(step.start, step.profiles, texts))
    return rows
