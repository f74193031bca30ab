"""Agents that run at the moment, by service and zone."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime

from django.db.models import Count

from projects.models import Agent, running_agents
from projects.models.agent import MAX_REPORT_GAP


def count_live_agents(project: int, now: datetime) -> Mapping[str, Counter[str]]:
    """Count the agents of each service, by zone; services without live agents have none.

    Senders of files are no agents. One statement.
    """
    rows = Agent.objects.filter(deployment__project=project, last_seen__gte=now - MAX_REPORT_GAP)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    groups = rows.filter(running_agents()).order_by()
    for service, zone, number in groups.values_list(
        "deployment__service", "deployment__zone"
    ).annotate(Count("pk")):
        counts[service][zone] = number
    return counts
