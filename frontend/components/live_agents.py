"""Counts of recently seen agents by service."""

from datetime import datetime, timedelta

from django.db.models import Count

from projects.models import Agent

# An agent that was told to back off polls again within some minutes, however many agents there are.
LATELY = timedelta(minutes=10)


def live_agents(project: int, now: datetime) -> dict[str, int]:
    """Count the live agents of each service; services without live agents are left out."""
    rows = Agent.objects.filter(deployment__project=project, last_seen__gte=now - LATELY)
    return dict(rows.order_by().values_list("deployment__service").annotate(Count("pk")))
