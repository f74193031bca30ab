"""Progress of a service's setup: no agent, agent seen, first profile; or an imported file."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max
from django.utils import timezone

from profiles.query import QueryContext, run_nearest
from projects.models import Agent, ApiKey, Project
from projects.profile_types import ProfileType

# Enough to find an agent with a profile among the workers of a service that forks.
_LOOKED_AT = 32


@dataclass(frozen=True, slots=True)
class Progress:
    """Setup progress: the new agent to show, and the type of the flame graph to open.

    `imported` is the time of the latest profile if it comes from a file, or from a client that has
    not yet sent for a minute; then the agent stands for the person or program that sent it.
    """

    agent: Agent | None
    opens: ProfileType | None
    imported: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Return whether an agent or its first profile may still appear."""
        return self.opens is None or self.imported is not None

    @property
    def state(self) -> str:
        """Return a tag of the displayed state, which the page sends back to ask for changes."""
        if self.agent is None:
            return "nobody"
        return f"{self.agent.pk}-{self.opens or 'waiting'}{'-imported' if self.imported else ''}"


def progress(context: QueryContext, project: Project) -> Progress:
    """Return the progress of agents that first appeared after the newest key was created.

    Imported files count while there is no such agent.
    """
    agents = list(
        Agent.objects.filter(deployment__project=project, first_seen__gte=_since(project))
        .select_related("deployment")
        .order_by("-first_seen", "-pk")[:_LOOKED_AT]
    )
    running = [agent for agent in agents if agent.is_running]
    for agent in running:
        profiled = agent.deployment.profiled
        if profiled:
            return Progress(agent, _opens(profiled))
    if running:
        return Progress(running[0], None)
    for agent in agents:
        if shown := _find_import(context, agent):
            return shown
    return Progress(None, None)


def _find_import(context: QueryContext, agent: Agent) -> Progress | None:
    """Return the progress of imported files; None if nothing of them is stored."""
    deployment, now = agent.deployment, timezone.now()
    if not deployment.profiled:
        return None
    opens = _opens(deployment.profiled)
    latest = run_nearest(context, deployment.service, opens, now, now).before
    return Progress(agent, opens, latest) if latest else None


def _since(project: Project) -> datetime:
    newest = ApiKey.objects.filter(project=project, revoked=None).aggregate(at=Max("created"))
    time: datetime | None = newest["at"]
    return time or project.created


def _opens(profiled: list[str]) -> ProfileType:
    """Return CPU if it was captured, otherwise the first type: most analyses start with CPU."""
    return ProfileType.CPU if ProfileType.CPU in profiled else ProfileType(profiled[0])
