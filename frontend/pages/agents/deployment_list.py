"""List of a project's deployments: agents, recent profiles and profile types on offer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlencode

from django.db.models import Count, Q, QuerySet

from frontend.components.results.pagination import Pages, paginate
from frontend.pages.agents.agent_list import SEEN_WITHIN
from frontend.pages.agents.params import AgentQuery
from frontend.params.formats import span_text
from profiles.query import QueryContext, run_deployment_counts
from projects.models import Delivery, Deployment, Project, filter_connected
from projects.profile_types import NEVER_REQUESTED, ProfileType
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.interface import CaptureTarget, QueueUnavailable

PAGE_SIZE = 12  # rows of about 2 kB: a fragment stays below 30 kB


@dataclass(frozen=True, slots=True)
class DeploymentRow:
    deployment: Deployment
    agents: int  # connected
    only_pushes: bool  # its agents send on their own, and take no capture requests
    counts: list[tuple[ProfileType, int]]  # profiles of the last 24 hours
    offers: list[ProfileType]  # types that can be captured now

    @property
    def parameters(self) -> str:
        """Return the parameters of the flame page for the profiles counted here."""
        deployment = self.deployment
        chosen = {
            "service": deployment.service,
            "version": deployment.version,
            "zone": deployment.zone,
            "span": span_text(SEEN_WITHIN),
        }
        return urlencode({name: text for name, text in chosen.items() if text}, quote_via=quote)


@dataclass(frozen=True, slots=True)
class DeploymentList:
    shown: list[DeploymentRow]
    all: int
    found: int
    services: list[str]
    pages: Pages


def list_deployments(
    context: QueryContext, project: Project, query: AgentQuery, now: datetime
) -> DeploymentList:
    all_deployments = Deployment.objects.filter(project=project)
    rows = _matching(all_deployments, query)
    everything = all_deployments.count()
    found = rows.count() if query.filtered else everything
    pages = paginate(found, PAGE_SIZE, query.page)
    connected = filter_connected(now, "agents__")
    ordered = rows.annotate(
        connected=Count("agents", filter=connected),
        pushing=Count("agents", filter=connected & Q(agents__delivery=Delivery.PUSH)),
    ).order_by("service", "-last_seen", "pk")
    on_page = list(ordered[pages.first : pages.behind])
    keys = [deployment.pk for deployment in on_page]
    counts = run_deployment_counts(context, keys, now - SEEN_WITHIN, now)
    targets = _targets(project)
    return DeploymentList(
        shown=[
            _build_row(deployment, counts.get(deployment.pk, {}), targets.get(deployment.pk))
            for deployment in on_page
        ],
        all=everything,
        found=found,
        services=_services(all_deployments, query.service),
        pages=pages,
    )


def _matching(all_deployments: QuerySet[Deployment], query: AgentQuery) -> QuerySet[Deployment]:
    rows = all_deployments.filter(service=query.service) if query.service else all_deployments
    if not query.find:
        return rows
    said = Q()
    for column in ("service", "version", "zone", "language"):
        said |= Q(**{f"{column}__icontains": query.find})
    return rows.filter(said)


def _targets(project: Project) -> dict[int, CaptureTarget]:
    try:
        found = queue_of_process().targets()
    except QueueUnavailable:
        return {}
    return {target.deployment: target for target in found if target.project == project.pk}


def _services(all_deployments: QuerySet[Deployment], chosen: str) -> list[str]:
    names = set(all_deployments.order_by().values_list("service", flat=True).distinct())
    return sorted({*names, chosen} - {""})


def _build_row(
    deployment: Deployment, counts: Mapping[ProfileType, int], target: CaptureTarget | None
) -> DeploymentRow:
    offered = target.types - NEVER_REQUESTED if target else frozenset()
    agents: int = getattr(deployment, "connected", 0)
    return DeploymentRow(
        deployment=deployment,
        agents=agents,
        only_pushes=0 < agents == getattr(deployment, "pushing", 0),
        counts=[(each, counts[each]) for each in ProfileType if each in counts],
        offers=[each for each in ProfileType if each in offered],
    )
