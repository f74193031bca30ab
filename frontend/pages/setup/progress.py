"""How far the set-up of a service has come: nobody seen, agent seen, first profile."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from projects.models import Agent, ApiKey, Project
from projects.profile_types import ProfileType

# Enough to find one with a profile among the workers of a service that forks.
_LOOKED_AT = 32


@dataclass(frozen=True, slots=True)
class Progress:
    """`agent` is the newcomer that is shown; `opens` the type of its first flame graph."""

    agent: Agent | None
    opens: ProfileType | None

    @property
    def state(self) -> str:
        """What is shown, in short: the page asks whether it still is so."""
        if self.agent is None:
            return "nobody"
        return f"{self.agent.pk}-{self.opens or 'waiting'}"


def progress(project: Project) -> Progress:
    """Of the agents that appeared since the newest key was made."""
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
    """CPU where there is one: most questions begin with it."""
    return ProfileType.CPU if ProfileType.CPU in profiled else ProfileType(profiled[0])
