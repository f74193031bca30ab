"""Agents that were seen lately, by service."""

from datetime import datetime, timedelta

from django.db.models import Count

from projects.models import Agent

# An agent that was sent away comes again within some minutes, however many there are.
LATELY = timedelta(minutes=10)


def live_agents(project: int, now: datetime) -> dict[str, int]:
    """How many of each service; services without any are left out."""
    rows = Agent.objects.filter(deployment__project=project, last_seen__gte=now - LATELY)
    return dict(rows.order_by().values_list("deployment__service").annotate(Count("pk")))
