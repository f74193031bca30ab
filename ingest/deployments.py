"""Cached service name and labels of deployments, looked up by primary key."""

from dataclasses import dataclass

from common.cache import Cache
from endpoints.errors import NotFound
from projects.models import Deployment


@dataclass(frozen=True, slots=True)
class Target:
    project: int  # Project.pk
    project_id: str
    deployment: int  # Deployment.pk
    service: str
    labels: dict[str, str]


async def get_target(project: int, deployment: int) -> Target:
    """Return the deployment, at most 60 s old.

    Raise NotFound if it was deleted or belongs to another project.
    """
    target = await _targets.get_or_load(deployment)
    if target.project != project:
        raise NotFound("No such deployment in this project.")
    return target


def _load(pk: int) -> Target:
    row = Deployment.objects.select_related("project").filter(pk=pk).first()
    if row is None:
        raise NotFound("The deployment that this profile was requested from was deleted.")
    labels = {"language": row.language, "version": row.version, "zone": row.zone}
    return Target(row.project.pk, row.project.project_id, row.pk, row.service, labels)


_targets: Cache[int, Target] = Cache(_load, size=10_000, seconds=60.0)
