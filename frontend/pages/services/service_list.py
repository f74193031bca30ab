"""The list of services: which of them, in which order, and how each does."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from frontend.components.live_agents import live_agents
from frontend.components.units import format_percent, format_value
from frontend.pages.services.params import SPANS, ServiceQuery
from frontend.pages.services.sparkline import LineSegment, stretches
from profiles.engine.metrics import DEFAULT_METRICS
from profiles.query import ServiceRow, Sparkline, run_services, run_sparklines
from projects.models import Project
from projects.profile_types import ProfileType

PAGE_SIZE = 20  # rows of about 1.4 kB: a fragment stays below 30 kB
_STEPS = 24
# How long after its last profile a service still counts as reporting, at least.
_FRESH = timedelta(minutes=15)


class Status(StrEnum):
    REPORTING = "reporting"
    SILENT = "silent"  # agents are there, profiles are not
    ABSENT = "absent"  # no agents


@dataclass(frozen=True, slots=True)
class ServiceListRow:
    """A service as its row shows it."""

    row: ServiceRow
    status: Status
    agents: int  # seen lately
    type: ProfileType | None  # of the line and the average; None: no profile yet
    lines: list[LineSegment]
    average: str  # per profile in the range; empty without any
    cores: str  # the same as a share of one core, for CPU
    older: int  # versions but the newest


@dataclass(frozen=True, slots=True)
class ServiceList:
    shown: list[ServiceListRow]
    services: int  # of the project
    found: int  # of those, how many match
    reporting: int
    silent: int
    profiles: int  # of the project, in the range
    pages: int
    page: int

    @property
    def only_cpu(self) -> bool:
        """Whether every line is of CPU profiles, so that its column can say so."""
        return all(one.type in (ProfileType.CPU, None) for one in self.shown)

    @property
    def previous(self) -> int:
        return self.page - 1

    @property
    def next(self) -> int:
        return self.page + 1


def list_services(project: Project, query: ServiceQuery, now: datetime) -> ServiceList:
    start = now - SPANS[query.span][0]
    rows = run_services(project.pk, start, now).rows
    agents = live_agents(project.pk, now)
    fresh = now - _fresh(project.profiles_per_minute)
    states = {row.service: _status(row, agents, fresh) for row in rows}
    found = _sorted([row for row in rows if query.find.lower() in row.service.lower()], query.sort)
    pages = max(1, -(-len(found) // PAGE_SIZE))
    page = min(query.page, pages)
    on_page = found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    lines = _lines(project.pk, on_page, start, now)
    return ServiceList(
        shown=[_shown(row, states[row.service], agents, lines) for row in on_page],
        services=len(rows),
        found=len(found),
        reporting=sum(state is Status.REPORTING for state in states.values()),
        silent=sum(state is Status.SILENT for state in states.values()),
        profiles=sum(row.profiles for row in rows),
        pages=pages,
        page=page,
    )


def _fresh(per_minute: float) -> timedelta:
    """Five turns, for a project whose rate is so low that it takes longer."""
    return max(_FRESH, timedelta(minutes=5 / per_minute)) if per_minute else _FRESH


def _status(row: ServiceRow, agents: Mapping[str, int], fresh: datetime) -> Status:
    if row.last_profile and row.last_profile >= fresh:
        return Status.REPORTING
    return Status.SILENT if agents.get(row.service) else Status.ABSENT


def _sorted(rows: list[ServiceRow], sort: str) -> list[ServiceRow]:
    """By name, or the other's largest first; of equals by name."""
    never = datetime.min.replace(tzinfo=UTC)
    rows = sorted(rows, key=lambda row: row.service.lower())
    if sort == "profiles":
        rows.sort(key=lambda row: row.profiles, reverse=True)
    elif sort == "last":
        rows.sort(key=lambda row: row.last_profile or never, reverse=True)
    return rows


def _lines(
    project: int, rows: list[ServiceRow], start: datetime, end: datetime
) -> dict[str, Sparkline]:
    types = {row.service: of for row in rows if (of := _shown_type(row))}
    return run_sparklines(project, types, start, end, _STEPS)


def _shown_type(row: ServiceRow) -> ProfileType | None:
    """CPU where there is one, else the first that there is."""
    if ProfileType.CPU in row.types:
        return ProfileType.CPU
    return next(iter(row.types), None)


def _shown(
    row: ServiceRow, status: Status, agents: Mapping[str, int], lines: Mapping[str, Sparkline]
) -> ServiceListRow:
    type_, line = _shown_type(row), lines.get(row.service)
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
