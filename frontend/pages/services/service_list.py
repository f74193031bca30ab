"""List of a project's services: search, order, status and a sparkline of each."""

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from findings.costs import ServiceCosts, load_costs
from frontend.components.charts.sparkline import LineSegment, draw_sparkline
from frontend.components.results.pagination import Pages, paginate
from frontend.pages.services.insight_columns import (
    ServiceChange,
    ServiceCost,
    ServiceInsights,
    TopFunctionText,
    load_insights,
)
from frontend.pages.services.params import ServiceQuery
from frontend.text.money import describe_core_hour
from frontend.text.units import format_percent, format_value
from profiles.query import (
    DEFAULT_METRICS,
    QueryContext,
    ServiceRow,
    Sparkline,
    run_services,
    run_sparklines,
)
from projects.models import Agent, Project, running_agents
from projects.profile_types import ProfileType

PAGE_SIZE = 20  # rows of about 1.5 kB
_SPARKLINE_STEPS = 24
# Shortest time after its last profile during which a service counts as reporting.
_MIN_FRESH_TIME = timedelta(minutes=15)


class Status(StrEnum):
    REPORTING = "reporting"
    SILENT = "silent"  # live agents, but no recent profiles
    ABSENT = "absent"  # no live agents


@dataclass(frozen=True, slots=True)
class ServiceListRow:
    row: ServiceRow
    status: Status
    agents: int  # live agents
    type: ProfileType | None  # type of the sparkline and the average; None without profiles
    lines: list[LineSegment]
    average: str  # per profile in the range; "" without profiles
    cores: str  # the average as a share of one core; only for CPU
    older: int  # number of versions besides the newest
    cost: ServiceCost
    top: TopFunctionText | None
    change: ServiceChange | None


@dataclass(frozen=True, slots=True)
class ServiceList:
    shown: list[ServiceListRow]
    services: int  # in the project
    found: int  # matching services
    reporting: int
    silent: int
    profiles: int  # of the project, in the range
    pages: Pages
    has_tops: bool  # of any service on the page
    core_hour: str  # price; "" if it is not set

    @property
    def is_only_cpu(self) -> bool:
        """Return whether every sparkline shows CPU profiles, so that the heading can say so."""
        return all(one.type in (ProfileType.CPU, None) for one in self.shown)


def list_services(
    context: QueryContext, project: Project, query: ServiceQuery, now: datetime
) -> ServiceList:
    start, end = query.range.bounds(now)
    rows = run_services(context, start, end).rows
    costs = load_costs(project.pk, now)
    fresh_since = now - _compute_fresh_time(project.profiles_per_minute)
    imported = _list_imported_services(project.pk, fresh_since)
    states = {row.service: _find_status(row, costs.agents, imported, fresh_since) for row in rows}
    found = _sort_rows(
        [row for row in rows if query.find.lower() in row.service.lower()], query.sort
    )
    lines: dict[str, Sparkline] = {}
    if query.sort == "cost":
        lines = _lines(context, found, start, end)
        found.sort(key=lambda row: _compute_cost(row, costs, lines).rank, reverse=True)
    pages = paginate(len(found), PAGE_SIZE, query.page)
    on_page = found[pages.first : pages.behind]
    lines = lines or _lines(context, on_page, start, end)
    insights = load_insights(project, _find_types(on_page), now)
    return ServiceList(
        shown=[
            _build_row(
                row,
                states[row.service],
                costs.agents[row.service].total(),
                _compute_cost(row, costs, lines),
                lines.get(row.service),
                insights,
            )
            for row in on_page
        ],
        services=len(rows),
        found=len(found),
        reporting=sum(state is Status.REPORTING for state in states.values()),
        silent=sum(state is Status.SILENT for state in states.values()),
        profiles=sum(row.profiles for row in rows),
        pages=pages,
        has_tops=bool(insights.tops),
        core_hour=describe_core_hour(costs.prices),
    )


def _compute_fresh_time(per_minute: float) -> timedelta:
    """Return the time after the last profile during which a service counts as reporting.

    It is five capture intervals if these are longer than _MIN_FRESH_TIME.
    """
    if not per_minute:
        return _MIN_FRESH_TIME
    return max(_MIN_FRESH_TIME, timedelta(minutes=5 / per_minute))


def _find_status(
    row: ServiceRow,
    agents: Mapping[str, Counter[str]],
    imported: Container[str],
    fresh_since: datetime,
) -> Status:
    """Return the status of a service.

    A recent profile counts unless it may be an import. Services without imports need no live agent:
    agents need not have a row in the database.
    """
    has_agents = bool(agents.get(row.service))
    is_fresh = row.last_profile is not None and row.last_profile >= fresh_since
    if is_fresh and (has_agents or row.service not in imported):
        return Status.REPORTING
    return Status.SILENT if has_agents else Status.ABSENT


def _sort_rows(rows: list[ServiceRow], sort: str) -> list[ServiceRow]:
    """Sort by name, or by the other column in descending order and then by name."""
    never = datetime.min.replace(tzinfo=UTC)
    rows = sorted(rows, key=lambda row: row.service.lower())
    if sort == "profiles":
        rows.sort(key=lambda row: row.profiles, reverse=True)
    elif sort == "last":
        rows.sort(key=lambda row: row.last_profile or never, reverse=True)
    return rows


def _lines(
    context: QueryContext, rows: list[ServiceRow], start: datetime, end: datetime
) -> dict[str, Sparkline]:
    return run_sparklines(context, _find_types(rows), start, end, _SPARKLINE_STEPS)


def _find_types(rows: list[ServiceRow]) -> dict[str, ProfileType]:
    return {row.service: type_ for row in rows if (type_ := _find_type(row))}


def _find_type(row: ServiceRow) -> ProfileType | None:
    """Return CPU if the service has CPU profiles, otherwise its first type."""
    if ProfileType.CPU in row.types:
        return ProfileType.CPU
    return next(iter(row.types), None)


def _compute_cost(
    row: ServiceRow, costs: ServiceCosts, lines: Mapping[str, Sparkline]
) -> ServiceCost:
    """Return the cost of a service with CPU profiles and running agents."""
    line = lines.get(row.service)
    if not line or not line.duration_ns or _find_type(row) is not ProfileType.CPU:
        return ServiceCost(costs.prices.currency)
    cost = costs.compute_cpu(row.service, line.weight / line.duration_ns)
    return ServiceCost(costs.prices.currency, cost.cores, cost.money)


def _build_row(
    row: ServiceRow,
    status: Status,
    agents: int,
    cost: ServiceCost,
    line: Sparkline | None,
    insights: ServiceInsights,
) -> ServiceListRow:
    type_ = _find_type(row)
    average = cores = ""
    if type_ and line:
        average = format_value(line.weight / line.profiles, DEFAULT_METRICS[type_].unit)
        if type_ is ProfileType.CPU and line.duration_ns:
            cores = format_percent(line.weight, line.duration_ns)
    return ServiceListRow(
        row=row,
        status=status,
        agents=agents,
        type=type_,
        lines=draw_sparkline(line.steps) if line else [],
        average=average,
        cores=cores,
        older=max(0, len(row.versions) - 1),
        cost=cost,
        top=insights.tops.get(row.service),
        change=insights.changes.get(row.service),
    )


def _list_imported_services(project: int, since: datetime) -> set[str]:
    """Return the services to which files were imported since a time."""
    rows = Agent.objects.filter(deployment__project=project, last_seen__gte=since)
    rows = rows.exclude(running_agents())
    return set(rows.order_by().values_list("deployment__service", flat=True).distinct())
