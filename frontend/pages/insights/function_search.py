"""`/p/<project>/insights/functions`: cost of a function in all services, with its callers."""

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
from frontend.components.selection.range_menu import range_menu
from frontend.page_query import query_context, range_notices
from frontend.pages.insights.pattern_texts import PatternTexts
from frontend.pages.insights.view_model import DEFAULT_RANGE
from frontend.params.list_params import FIND
from frontend.params.notices import list_replacement_notices
from frontend.params.page_links import Carried, range_pairs
from frontend.text.money import describe_core_hour, format_money
from frontend.text.units import format_value
from profiles.query import (
    BadFilterPattern,
    DeadlinePassed,
    FramePattern,
    InvalidQuery,
    ProfileSelection,
    QueryContext,
    matcher,
    run_pattern_costs,
    run_services,
)
from projects.access import project_for
from projects.models import Project
from projects.profile_types import ProfileType

MOST_SERVICES = 50  # those with the most profiles


@dataclass(frozen=True, slots=True)
class FunctionSearch:
    rows: Sequence[PatternTexts]
    examined: int  # services with CPU profiles
    failures: Sequence[tuple[str, str]]  # (service, reason)
    is_late: bool
    problem: str  # of the searched text
    total: str  # cores, and the cost a month
    core_hour: str


@require_safe
def search_functions(request: HttpRequest, project_id: str) -> HttpResponse:
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
) -> FunctionSearch:
    """Return the services in whose CPU profiles functions match, the most costly first."""
    costs = load_costs(project.pk, now)
    rows: list[PatternTexts] = []
    failures: list[tuple[str, str]] = []
    examined, is_late, problem = 0, False, ""
    try:
        with context.snapshot:
            if find:
                matcher(find)
                for service in _list_services(context, range, now):
                    start, end = range.bounds(now)
                    selection = ProfileSelection(
                        context.project, service, ProfileType.CPU, start, end
                    )
                    try:
                        result = run_pattern_costs(context, selection, [FramePattern(find)])
                    except InvalidQuery as error:
                        failures.append((service, str(error)))
                        continue
                    examined += 1
                    [cost] = result.rows
                    if cost.total:
                        rows.append(PatternTexts(project, range, costs, result, cost, find))
    except BadFilterPattern as error:
        problem = str(error)
    except DeadlinePassed:
        is_late = True
    return FunctionSearch(
        rows=sorted(rows, key=lambda row: (-row.rank, -row.result.compute_share(row.cost))),
        examined=examined,
        failures=failures,
        is_late=is_late,
        problem=problem,
        total=_describe_total(costs, rows),
        core_hour=describe_core_hour(costs.prices),
    )


def _list_services(context: QueryContext, range: TimeRange, now: datetime) -> list[str]:
    rows = run_services(context, *range.bounds(now)).rows
    chosen = [row for row in rows if row.profiles and ProfileType.CPU in row.types]
    chosen.sort(key=lambda row: (-row.profiles, row.service))
    return [row.service for row in chosen[:MOST_SERVICES]]


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
