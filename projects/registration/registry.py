"""Deployments and agents: known without SQL, added at once when new, last seen written behind."""

from dataclasses import dataclass

from common.write_behind import flush, start, stop
from projects.credentials.authentication import Access
from projects.profile_types import ProfileType
from projects.registration import agents, deployments
from projects.registration.agents import AgentSeen, identity_of
from projects.registration.deployments import DeploymentKey, note_profiled
from projects.usage.quota_reached import QuotaReached
from projects.usage.quotas import note_refused

__all__ = [
    "AgentSeen",
    "DeploymentKey",
    "RegisteredAgent",
    "flush",
    "identity_of",
    "note_profiled",
    "seen",
    "start",
    "stop",
]


@dataclass(frozen=True, slots=True)
class RegisteredAgent:
    deployment: int  # Deployment.pk
    agent: int  # Agent.pk
    profiled: frozenset[ProfileType]  # types that the deployment has a profile of


async def seen(
    project: Access | int, deployment: DeploymentKey, agent: AgentSeen
) -> RegisteredAgent:
    """An agent has shown itself. Raises QuotaReached where its deployment is one too many.

    No query for a known agent; else raises django.db.Error and sync_pool.TooBusy where the
    database cannot be asked now.
    """
    pk = project.project if isinstance(project, Access) else project
    try:
        known = await deployments.find(pk, deployment)
    except QuotaReached:
        note_refused(pk)
        raise
    return RegisteredAgent(known.pk, await agents.find(known.pk, agent), known.profiled)
