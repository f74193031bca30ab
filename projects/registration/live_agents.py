"""Agents that run at the moment, by service and zone."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime

from django.db.models import Count

from projects.models import Agent, filter_connected


def count_live_agents(project: int, now: datetime) -> Mapping[str, Counter[str]]:
    """Count the agents of each service, by zone; services without live agents have none.

    Senders of files are no agents. One statement.
    """
    agents = Agent.objects.filter(filter_connected(now), deployment__project=project).order_by()
    groups = agents.values_list("deployment__service", "deployment__zone").annotate(Count("pk"))
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for service, zone, number in groups:
        counts[service][zone] = number
    return counts
