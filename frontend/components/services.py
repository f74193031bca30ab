"""Services in menus and lists: their order, and their live agents."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Count

from profiles.query import ServiceName
from projects.models import Agent

# An agent that was told to back off polls again within some minutes, however many agents there are.
LATELY = timedelta(minutes=10)


def by_last_seen(services: Sequence[ServiceName]) -> list[ServiceName]:
    """Sort services by the time they were last seen, latest first.

    Services without a profile come last.
    """
    return sorted(services, key=lambda row: (bool(row.types), row.last_seen), reverse=True)


def live_agents(project: int, now: datetime) -> dict[str, int]:
    """Count the live agents of each service; services without live agents are left out."""
    rows = Agent.objects.filter(deployment__project=project, last_seen__gte=now - LATELY)
    return dict(rows.order_by().values_list("deployment__service").annotate(Count("pk")))
