"""List of a project's services: search, order, status and a sparkline of each."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from frontend.components.results.pagination import Pages, paginate
from frontend.pages.services.params import ServiceQuery
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
from projects.registration.live_agents import count_live_agents

PAGE_SIZE = 20  # rows of about 1.4 kB: a fragment stays below 30 kB
_SPARKLINE_STEPS = 24
# Shortest time after its last profile during which a service counts as reporting.
_MIN_FRESH_TIME = timedelta(minutes=15)


class Status(StrEnum):
    REPORTING = "reporting"
    SILENT = "silent"  # live agents, but no recent profiles
    ABSENT = "absent"  # no live agents


@dataclass(frozen=True, slots=True)
class LineSegment:
    line: str  # points of a polyline
    area: str  # points of the polygon below it


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


@dataclass(frozen=True, slots=True)
class ServiceList:
    shown: list[ServiceListRow]
    services: int  # in the project
    found: int  # matching services
    reporting: int
    silent: int
    profiles: int  # of the project, in the range
    pages: Pages

    @property
    def is_only_cpu(self) -> bool:
        """Return whether every sparkline shows CPU profiles, so that the heading can say so."""
        return all(one.type in (ProfileType.CPU, None) for one in self.shown)


def list_services(
    context: QueryContext, project: Project, query: ServiceQuery, now: datetime
) -> ServiceList:
    start, end = query.range.bounds(now)
    rows = run_services(context, start, end).rows
    agents = {
        service: zones.total() for service, zones in count_live_agents(project.pk, now).items()
    }
    fresh_since = now - _compute_fresh_time(project.profiles_per_minute)
    imported = _list_imported_services(project.pk, fresh_since)
    states = {row.service: _find_status(row, agents, imported, fresh_since) for row in rows}
    found = _sort_rows(
        [row for row in rows if query.find.lower() in row.service.lower()], query.sort
    )
    pages = paginate(len(found), PAGE_SIZE, query.page)
    on_page = found[pages.first : pages.behind]
    lines = _lines(context, on_page, start, end)
    return ServiceList(
        shown=[_build_row(row, states[row.service], agents, lines) for row in on_page],
        services=len(rows),
        found=len(found),
        reporting=sum(state is Status.REPORTING for state in states.values()),
        silent=sum(state is Status.SILENT for state in states.values()),
        profiles=sum(row.profiles for row in rows),
        pages=pages,
    )


def _compute_fresh_time(per_minute: float) -> timedelta:
    """Return the time after the last profile during which a service counts as reporting.

    It is five capture intervals if these are longer than _MIN_FRESH_TIME.
    """
    if not per_minute:
        return _MIN_FRESH_TIME
    return max(_MIN_FRESH_TIME, timedelta(minutes=5 / per_minute))


def _find_status(
    row: ServiceRow, agents: Mapping[str, int], imported: Container[str], fresh_since: datetime
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
    types = {row.service: found for row in rows if (found := _find_type(row))}
    return run_sparklines(context, types, start, end, _SPARKLINE_STEPS)


def _find_type(row: ServiceRow) -> ProfileType | None:
    """Return CPU if the service has CPU profiles, otherwise its first type."""
    if ProfileType.CPU in row.types:
        return ProfileType.CPU
    return next(iter(row.types), None)


def _build_row(
    row: ServiceRow, status: Status, agents: Mapping[str, int], lines: Mapping[str, Sparkline]
) -> ServiceListRow:
    type_, line = _find_type(row), lines.get(row.service)
    average = cores = ""
    if type_ and line:
        average = format_value(line.weight / line.profiles, DEFAULT_METRICS[type_].unit)
        if type_ is ProfileType.CPU and line.duration_ns:
            cores = format_percent(line.weight, line.duration_ns)
    return ServiceListRow(
        row=row,
        status=status,
        agents=agents.get(row.service, 0),
        type=type_,
        lines=stretches(line.steps) if line else [],
        average=average,
        cores=cores,
        older=max(0, len(row.versions) - 1),
    )


def _list_imported_services(project: int, since: datetime) -> set[str]:
    """Return the services to which files were imported since a time."""
    rows = Agent.objects.filter(deployment__project=project, last_seen__gte=since)
    rows = rows.exclude(running_agents())
    return set(rows.order_by().values_list("deployment__service", flat=True).distinct())


_WIDTH, _FOOT, _HEAD = 100, 31, 4


def stretches(steps: Sequence[float | None]) -> list[LineSegment]:
    """Convert values at equal steps to line segments; None is a gap. The scale starts at zero."""
    most = max((value for value in steps if value is not None), default=0) or 1
    points = [
        None if value is None else (i, round(_FOOT - (_FOOT - _HEAD) * value / most))
        for i, value in enumerate(steps)
    ]
    return [_stretch(run, len(steps)) for run in _runs(points)]


def _runs(points: Sequence[tuple[int, int] | None]) -> list[list[tuple[int, int]]]:
    runs: list[list[tuple[int, int]]] = [[]]
    for point in points:
        if point is not None:
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _stretch(run: list[tuple[int, int]], steps: int) -> LineSegment:
    """Draw a run from the left edge of its first step to the right edge of its last."""
    edge = _WIDTH / steps
    first, last = run[0], run[-1]
    points = [(first[0] * edge, first[1])]
    points += [((i + 0.5) * edge, y) for i, y in run[1:-1]]
    points.append(((last[0] + 1) * edge, last[1]))
    line = " ".join(f"{round(x)},{y}" for x, y in points)
    area = f"{round(points[0][0])},{_FOOT} {line} {round(points[-1][0])},{_FOOT}"
    return LineSegment(line, area)
