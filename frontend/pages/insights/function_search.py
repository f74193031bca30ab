"""`/p/<project>/insights/functions`: cost of a function in all services, with callers and trend."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from endpoints.params.reader import LenientReader
from endpoints.params.selection import TimeRange, read_range
from findings.costs import ServiceCosts, load_costs
from frontend.components.charts.sparkline import LineSegment, draw_sparkline
from frontend.components.selection.range_menu import range_menu
from frontend.page_query import query_context, range_notices
from frontend.pages.insights.pattern_texts import PatternTexts
from frontend.pages.insights.view_model import DEFAULT_RANGE
from frontend.params.list_params import FIND
from frontend.params.notices import list_replacement_notices
from frontend.params.page_links import Carried, range_pairs
from frontend.text.money import describe_core_hour, format_money
from frontend.text.units import format_percent, format_value
from insights.function_search import FoundFunctions, FunctionSearch, search_functions
from profiles.query import BadFilterPattern, QueryContext
from projects.access import project_for
from projects.models import Project

_MOST_VERSIONS = 6  # of a row


@dataclass(frozen=True, slots=True)
class VersionText:
    version: str
    share: str
    value: str  # of one profile
    profiles: int


@dataclass(frozen=True, slots=True)
class FoundRow:
    """Matching functions of one service, in words, with their course as a sparkline."""

    texts: PatternTexts
    lines: list[LineSegment]
    greatest: str  # share of a step, the scale of the sparkline
    versions: list[VersionText]


@dataclass(frozen=True, slots=True)
class SearchPage:
    rows: Sequence[FoundRow]
    examined: int  # services with CPU profiles
    failures: Sequence[tuple[str, str]]  # (service, reason)
    is_late: bool
    problem: str  # of the searched text
    total: str  # cores, and the cost a month
    core_hour: str


@require_safe
def show_function_search(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_for(request.user, project_id)
    now = timezone.now()
    reader = LenientReader.from_query(request.GET)
    range, find = read_range(reader, now, DEFAULT_RANGE), reader.read(FIND)
    notices = [*list_replacement_notices(reader), *range_notices(project, range, now)]
    context = {
        "project": project,
        "here": "insights",
        "notices": notices,
        "find": find,
        "page": find_in_services(query_context(request, project), project, range, find, now),
        "range": range_menu(project, range, now),
        "carried": Carried(range),
        "range_fields": [pair for pair in range_pairs(range) if pair[1]],
    }
    return render(request, "frontend/insights/functions.html", context)


def find_in_services(
    context: QueryContext, project: Project, range: TimeRange, find: str, now: datetime
) -> SearchPage:
    """Return the services in whose CPU profiles functions match, the most costly first."""
    costs = load_costs(project.pk, now)
    search, problem = FunctionSearch((), 0, (), is_late=False), ""
    if find:
        try:
            search = search_functions(context, find, *range.bounds(now))
        except BadFilterPattern as error:
            problem = str(error)
    rows = [
        _describe(
            PatternTexts(project, range, costs, each.result, each.cost, [f"show:{find}"]), each
        )
        for each in search.found
    ]
    return SearchPage(
        rows=sorted(rows, key=_sort_by_cost),
        examined=search.examined,
        failures=search.failures,
        is_late=search.is_late,
        problem=problem,
        total=_describe_total(costs, [row.texts for row in rows]),
        core_hour=describe_core_hour(costs.prices),
    )


def _sort_by_cost(row: FoundRow) -> tuple[float, float]:
    result, cost = row.texts.result, row.texts.cost
    return -row.texts.rank, -result.compute_share(cost)


def _describe(texts: PatternTexts, found: FoundFunctions) -> FoundRow:
    greatest = max((share for share in found.shares if share is not None), default=0.0)
    unit = found.result.metric.unit
    return FoundRow(
        texts,
        draw_sparkline(found.shares),
        format_percent(greatest, 1),
        [
            VersionText(
                version=each.version,
                share=format_percent(each.share, 1),
                value=format_value(each.mean, unit),
                profiles=each.profiles,
            )
            for each in found.versions[:_MOST_VERSIONS]
        ],
    )


def _describe_total(costs: ServiceCosts, rows: Sequence[PatternTexts]) -> str:
    """Return the cores of all rows together, with their cost a month if they have a price."""
    cores = sum(row.rank for row in rows)
    if not cores:
        return ""
    prices = [row.price for row in rows if row.rank]
    text = format_value(cores, "cores")
    if None in prices:
        return text
    money = format_money(sum(price or 0.0 for price in prices), costs.prices.currency)
    return f"{text}, {money}"
