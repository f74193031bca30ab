"""Progress of a service's setup: no agent, agent seen, first profile."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from projects.models import Agent, ApiKey, Project
from projects.profile_types import ProfileType

# Enough to find an agent with a profile among the workers of a service that forks.
_LOOKED_AT = 32


@dataclass(frozen=True, slots=True)
class Progress:
    """Setup progress: the new agent to show, and the type of the flame graph to open."""

    agent: Agent | None
    opens: ProfileType | None

    @property
    def state(self) -> str:
        """Return a tag of the displayed state, which the page sends back to ask for changes."""
        if self.agent is None:
            return "nobody"
        return f"{self.agent.pk}-{self.opens or 'waiting'}"


def progress(project: Project) -> Progress:
    """Return the progress of agents that first appeared after the newest key was created."""
    agents = list(
        Agent.objects.filter(deployment__project=project, first_seen__gte=_since(project))
        .select_related("deployment")
        .order_by("-first_seen", "-pk")[:_LOOKED_AT]
    )
    for agent in agents:
        profiled = agent.deployment.profiled
        if profiled:
            return Progress(agent, _opens(profiled))
    return Progress(agents[0] if agents else None, None)


def _since(project: Project) -> datetime:
    newest = ApiKey.objects.filter(project=project, revoked=None).aggregate(at=Max("created"))
    at: datetime | None = newest["at"]
    return at or project.created


def _opens(profiled: list[str]) -> ProfileType:
    """Return CPU if it was captured, otherwise the first type: most analyses start with CPU."""
    return ProfileType.CPU if ProfileType.CPU in profiled else ProfileType(profiled[0])
