"""View model of the history page: charts of self and total, tables, and version changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from common.time_text import time_text
from frontend.components.charts.chart_notes import ChartNotes, chart_notes
from frontend.components.charts.step_values import StepValues, shorten_heading
from frontend.components.results.chart_page import ChartPage, build_chart_page
from frontend.pages.history.chart import LINES, chart
from frontend.pages.history.functions_menu import build_functions_menu
from frontend.pages.history.params import HistoryQuery
from frontend.pages.history.version_changes import Since, changes_since
from frontend.text import display_names
from frontend.text.display_names import SplitName, split_name
from frontend.text.time_ranges import span_name
from frontend.text.units import format_percent, format_value
from profiles.query import (
    HistoryLine,
    HistoryResult,
    InvalidQuery,
    QueryContext,
    run_history,
)
from projects.models import Project

_RELEASES = 5  # versions offered for comparison
Values = list[list[float | None]]  # values of each series by step; None without profiles


@dataclass(frozen=True, slots=True)
class HistoryTableRow:
    """Table row of a function: colour number, latest values, and minimum and maximum of self."""

    number: int
    name: str
    split: SplitName
    file: str
    self: str
    total: str
    least: str  # of self, over the steps with profiles
    most: str
    since: Since | None  # None if no second version is in the range
    focus: str  # query string of the flame page with this function in focus


@dataclass(frozen=True, slots=True)
class HistoryView:
    self: str  # JSON for <history-chart>
    total: str
    lines: list[HistoryTableRow]
    # latest version, compared with the time before it; "" if the range has a single version
    since: str
    step_headings: list[str]
    steps: list[StepValues]
    step: str  # "1 day"
    fewest: int  # smallest number of profiles in a step, ignoring empty steps
    most: int
    last: datetime  # start of the last step with profiles


@dataclass(frozen=True, slots=True)
class VersionStart:
    before: str
    version: str
    parameters: str  # query string of the comparison of both versions


def context(
    queries: QueryContext,
    project: Project,
    query: HistoryQuery,
    notices: tuple[str, ...],
    now: datetime,
) -> dict[str, object]:
    """Return the template context; `query` is None if the project has no service."""
    return build_chart_page("history", queries, project, query, notices, now, _build_context)


def _build_context(page: ChartPage[HistoryQuery]) -> dict[str, object]:
    query, page_query = page.query, page.page_query
    found: dict[str, object] = {"functions": build_functions_menu(query)}
    try:
        result = load_history(page)
    except InvalidQuery as error:
        return found | {"error": str(error)}
    found["notices"] = page.list_notices(result.coverage)
    found["metric"] = display_names.metric_name(result.metric)
    found["notes"] = marked = chart_notes(page_query.project, page_query.selection)
    if not result.coverage.profiles:
        own = _values(result, [line.self for line in result.lines], query.percent)
        empty_chart = chart(result, own, marked, percent=query.percent)
        return found | {"empty_chart": empty_chart} | page.empty_context()
    return found | {
        "shown": build_view(result, query, marked),
        "releases": _releases(result, query),
    }


def load_history(page: ChartPage[HistoryQuery]) -> HistoryResult:
    """Run the history query. Raise `InvalidQuery` or `DeadlinePassed`."""
    query, page_query = page.query, page.page_query
    return run_history(
        page_query.context,
        page_query.profile_selection,
        query.params.build_view(page.metric),
        step=query.shown_step,
        names=query.functions,
        show=_pattern(query.show),
        hide=_pattern(query.hide),
        lines=query.top,
    )


def _pattern(text: str) -> tuple[str, ...]:
    """Return the text as a regular expression filter; slashes around it are optional."""
    return (f"/{text.strip('/')}/",) if text.strip("/") else ()


def build_view(result: HistoryResult, query: HistoryQuery, notes: ChartNotes) -> HistoryView:
    """Return the charts and tables of a result that has profiles."""
    own = _values(result, [line.self for line in result.lines], query.percent)
    whole = _values(result, [line.total for line in result.lines], query.percent)
    counts = [step.profiles for step in result.steps if step.profiles]
    with_profiles = [i for i, step in enumerate(result.steps) if step.profiles]

    latest = result.versions[-1] if len(result.versions) > 1 else None
    text = partial(_text, result, query.percent)
    since: list[Since] | None = None
    if latest:
        since = changes_since(latest.first, result, own, percent=query.percent)
    return HistoryView(
        self=chart(result, own, notes, percent=query.percent),
        total=chart(result, whole, notes, percent=query.percent),
        lines=[
            _line(
                i,
                line,
                (own[i], whole[i]),
                with_profiles[-1],
                text,
                query,
                since[i] if since else None,
            )
            for i, line in enumerate(result.lines)
        ],
        since=latest.version if latest else "",
        step_headings=_step_headings(result),
        steps=[
            StepValues(
                step.start,
                step.profiles,
                [text(v) for a, b in zip(own, whole, strict=True) for v in (a[i], b[i])],
            )
            for i, step in enumerate(result.steps)
        ],
        step=span_name(timedelta(seconds=result.step_seconds)),
        fewest=min(counts),
        most=max(counts),
        last=result.steps[with_profiles[-1]].start,
    )


def _step_headings(result: HistoryResult) -> list[str]:
    sentences = (_("%(name)s, self"), _("%(name)s, total"))
    names = [shorten_heading(split_name(line.name).leaf) for line in result.lines]
    return [sentence % {"name": name} for name in names for sentence in sentences]


def _values(result: HistoryResult, sums: Sequence[Sequence[int]], percent: bool) -> Values:
    """Return averages per profile, or shares of each step's total if `percent`."""

    def value(sum_: int, step: int) -> float | None:
        step_ = result.steps[step]
        if not step_.profiles:
            return None
        return (sum_ / step_.total if step_.total else 0.0) if percent else sum_ / step_.profiles

    return [[value(sum_, i) for i, sum_ in enumerate(line)] for line in sums]


def _text(result: HistoryResult, percent: bool, value: float | None) -> str:
    """Format a value; None is ""."""
    if value is None:
        return ""
    return format_percent(value, 1) if percent else format_value(value, result.metric.unit)


def _line(
    number: int,
    line: HistoryLine,
    values: tuple[Sequence[float | None], Sequence[float | None]],
    last: int,
    text: Callable[[float | None], str],
    query: HistoryQuery,
    since: Since | None,
) -> HistoryTableRow:
    own, whole = values
    measured = [value for value in own if value is not None]
    return HistoryTableRow(
        number=number % LINES + 1,
        name=line.name,
        split=split_name(line.name),
        file=line.file,
        self=text(own[last]),
        total=text(whole[last]),
        least=text(min(measured)),
        most=text(max(measured)),
        since=since,
        focus=replace(query.params, focus=line.name).parameters(),
    )


def _releases(result: HistoryResult, query: HistoryQuery) -> list[VersionStart]:
    """Return the latest version changes, each with the comparison to the version before."""
    found = []
    for before, span in pairwise(result.versions):
        params = replace(query.params, versions=(span.version,), filters=())
        overrides = urlencode({"b.version": before.version})
        found.append(
            VersionStart(before.version, span.version, f"{params.parameters()}&{overrides}")
        )
    return found[-_RELEASES:]


def table(result: HistoryResult) -> list[list[str | int | float]]:
    """Return CSV rows with the sums of each step; `columns` returns the header."""
    return [
        [
            time_text(step.start),
            step.profiles,
            step.total,
            *(value for line in result.lines for value in (line.self[i], line.total[i])),
        ]
        for i, step in enumerate(result.steps)
    ]


def columns(result: HistoryResult) -> list[str]:
    unit = result.metric.unit
    lines = [
        f"{kind} of {line.name} ({unit})" for line in result.lines for kind in ("self", "total")
    ]
    return ["from", "profiles", f"total ({unit})", *lines]
