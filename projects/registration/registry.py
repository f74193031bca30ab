"""Registry of deployments and agents: no SQL for cached ones, inserts at once for new ones.

Last-seen times go through a write-behind buffer.
"""

from dataclasses import dataclass

from common.write_behind import flush, start, stop
from projects.credentials.authentication import Access, ServiceNotAllowed
from projects.profile_types import ProfileType
from projects.registration import agents, deployments
from projects.registration.agents import FILE_IMPORT, AgentSeen, derive_identity
from projects.registration.deployments import DeploymentKey, note_profiled
from projects.usage import rejections
from projects.usage.quota_reached import QuotaReached
from projects.usage.rejections import RejectionReason

__all__ = [
    "FILE_IMPORT",
    "AgentSeen",
    "DeploymentKey",
    "RegisteredAgent",
    "derive_identity",
    "flush",
    "note_profiled",
    "seen",
    "start",
    "stop",
]


@dataclass(frozen=True, slots=True)
class RegisteredAgent:
    deployment: int  # Deployment.pk
    agent: int | None  # Agent.pk; None if the deployment may store no more new ones today
    profiled: frozenset[ProfileType]  # types of which the deployment has a profile


async def seen(
    project: Access | int, deployment: DeploymentKey, agent: AgentSeen
) -> RegisteredAgent:
    """Register a deployment and its agent, and record that they were seen.

    No SQL query if both are cached. Raise ServiceNotAllowed for a service that the key may not
    send, QuotaReached if the deployment exceeds the project's
    quota of new ones, and django.db.Error or common.database_pool.DatabasePoolFull if a lookup is
    not possible now.
    """
    if isinstance(project, Access) and project.services:
        _require_service(project, deployment.service)
    pk = project.project if isinstance(project, Access) else project
    try:
        found = await deployments.find(pk, deployment)
    except QuotaReached:
        rejections.note(pk, RejectionReason.NEW_DEPLOYMENTS)
        raise
    agent_pk = await agents.find(found.pk, agent)
    if agent_pk is None:
        rejections.note(pk, RejectionReason.NEW_AGENTS)
    return RegisteredAgent(found.pk, agent_pk, found.profiled)


def _require_service(access: Access, service: str) -> None:
    if service not in access.services:
        rejections.note(access.project, RejectionReason.SERVICE_NOT_ALLOWED)
        raise ServiceNotAllowed(access, service)
