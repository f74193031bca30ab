"""Resolution of a page's parameters to a service, type and metric of a project."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _

from frontend.components.services import by_last_seen
from frontend.queries.params import PageParams, ParsedParams
from profiles.query import (
    Coverage,
    Metric,
    OptionsResult,
    Selection,
    ServiceName,
    run_options,
    run_profiles,
    run_service_names,
)
from projects.models import Project
from projects.profile_types import ProfileType

DEADLINE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class PageQuery:
    project: Project
    asked: PageParams  # with the service and type that are shown
    selection: Selection
    services: Sequence[ServiceName]
    notices: tuple[str, ...]
    now: datetime
    deadline: float  # on the clock of time.monotonic()


def page_query(project: Project, reading: ParsedParams, now: datetime) -> PageQuery | None:
    """Resolve the parameters; None if the project has no service. Raise `DeadlinePassed`."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    services = run_service_names(project.pk)
    found = _service_and_type(reading.asked, services)
    if found is None:
        return None
    service, of = found
    asked = replace(reading.asked, service=service, type=of)
    selection = asked.selection(project.pk, service, of, now)
    return PageQuery(project, asked, selection, services, reading.notices, now, deadline)


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
    """Return the named metric if the selected profiles have it; None stands for the default."""
    return next((metric for metric in options.metrics if name and metric.name == name), None)


def metric_notice(name: str, found: Metric | None) -> tuple[str, ...]:
    if not name or found:
        return ()
    sentence = _("These profiles have no metric “%(metric)s”; the usual one is shown.")
    return (sentence % {"metric": name[:60]},)


def _service_and_type(
    asked: PageParams, services: Sequence[ServiceName]
) -> tuple[str, ProfileType] | None:
    """Return the requested service and type.

    The default service is the one seen last, the default type the first that it has.
    """
    if not services and not asked.service:
        return None
    rows = {row.service: row for row in services}
    service = asked.service or by_last_seen(services)[0].service
    types = rows[service].types if service in rows else ()
    first = next((of for of in ProfileType if of in types), ProfileType.CPU)
    return service, asked.type or first


def seen_now(of: PageQuery) -> str:
    """Return the current version tag of the selection without merging its profiles."""
    return seen_of(run_profiles(of.selection, deadline=of.deadline, size=1).coverage)


def seen_of(coverage: Coverage) -> str:
    """Return a version tag that changes when the set of selected profiles does."""
    return f"{coverage.profiles}-{coverage.last.timestamp() if coverage.last else 0:.0f}"
