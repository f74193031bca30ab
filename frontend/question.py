"""What an address asks of a project: its service, type and metric settled, within a deadline."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _

from frontend.selection import Asked, Read
from profiles.query import (
    Metric,
    OptionsResult,
    Selection,
    ServiceRow,
    run_options,
    run_profiles,
    run_services,
)
from projects.models import Project
from projects.profile_types import ProfileType

PATIENCE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Question:
    project: Project
    asked: Asked  # with the service and type that are shown
    selection: Selection
    services: Sequence[ServiceRow]
    notices: tuple[str, ...]
    now: datetime
    deadline: float  # of time.monotonic()
    seen: str  # changes when other profiles are selected: new ones came, old ones went


def question(project: Project, reading: Read, now: datetime) -> Question | None:
    """None where the project has no service yet. Raises DeadlinePassed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    end = reading.asked.end or now
    services = run_services(project.pk, end - reading.asked.span, end, deadline).rows
    found = _service_and_type(reading.asked, services)
    if found is None:
        return None
    service, of = found
    asked = replace(reading.asked, service=service, type=of)
    selection = asked.selection(project.pk, service, of, now)
    seen = _seen(selection, deadline)
    return Question(project, asked, selection, services, reading.notices, now, deadline, seen)


def options_of(selection: Selection, deadline: float | None = None) -> OptionsResult:
    return run_options(
        selection.project,
        selection.service,
        selection.type,
        selection.start,
        selection.end,
        deadline=deadline,
    )


def metric_named(name: str, options: OptionsResult) -> Metric | None:
    """The metric of an address, if the selected profiles have it; None: the usual one."""
    return next((metric for metric in options.metrics if name and metric.name == name), None)


def metric_notice(name: str, found: Metric | None) -> tuple[str, ...]:
    if not name or found:
        return ()
    sentence = _("These profiles have no metric “%(metric)s”; the usual one is shown.")
    return (sentence % {"metric": name[:60]},)


def _service_and_type(
    asked: Asked, services: Sequence[ServiceRow]
) -> tuple[str, ProfileType] | None:
    """What is asked for; where it is not, the liveliest service and the first of its types."""
    if not services and not asked.service:
        return None
    rows = {row.service: row for row in services}
    liveliest = max(services, key=lambda row: row.profiles, default=None)
    service = asked.service or (liveliest.service if liveliest else "")
    types = rows[service].types if service in rows else ()
    first = next((of for of in ProfileType if of in types), ProfileType.CPU)
    return service, asked.type or first


def _seen(selection: Selection, deadline: float) -> str:
    coverage = run_profiles(selection, deadline=deadline, size=1).coverage
    return f"{coverage.profiles}-{coverage.last.timestamp() if coverage.last else 0:.0f}"
