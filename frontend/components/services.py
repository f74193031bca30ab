"""Services in menus and lists: their order, and their live agents."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count, QuerySet

from profiles.query import ServiceName
from projects.models import Agent, running_agents
from projects.models.agent import MAX_REPORT_GAP

LATELY = MAX_REPORT_GAP


def by_last_seen(services: Sequence[ServiceName]) -> list[ServiceName]:
    """Sort services by the time they were last seen, latest first.

    Services without a profile come last.
    """
    return sorted(services, key=lambda row: (bool(row.types), row.last_seen), reverse=True)


def live_agents(project: int, now: datetime) -> dict[str, int]:
    """Count the live agents of each service; services without live agents are left out."""
    rows = _seen_since(project, now - LATELY).filter(running_agents())
    return dict(rows.order_by().values_list("deployment__service").annotate(Count("pk")))


def imported_services(project: int, since: datetime) -> set[str]:
    """Return the services to which files were imported since a time."""
    rows = _seen_since(project, since).exclude(running_agents())
    return set(rows.order_by().values_list("deployment__service", flat=True).distinct())


def _seen_since(project: int, since: datetime) -> QuerySet[Agent]:
    return Agent.objects.filter(deployment__project=project, last_seen__gte=since)
