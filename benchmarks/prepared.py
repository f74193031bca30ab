"""Project with registered agents and issued profile names, in a server's database.

Run `python -m benchmarks.prepared PROJECT NAMES AGENTS [TYPE …]` in the server's environment; it
prints JSON.
"""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import django

from tests.server import RunningServer

_DEPLOYMENTS = 160


@dataclass(frozen=True, slots=True)
class Prepared:
    names: list[str]
    agents: list[tuple[str, str]]  # (service, identity)


def prepare(
    server: RunningServer,
    project: str,
    names: int = 0,
    agents: int = 1,
    types: Sequence[str] = ("CPU",),
) -> Prepared:
    """Prepare the project in a separate process, because the environment configures Django.

    The names cycle through `types`.
    """
    numbers = [str(names), str(agents)]
    command = [sys.executable, "-m", "benchmarks.prepared", project, *numbers, *types]
    done = subprocess.run(command, env=server.environment, capture_output=True, check=True)
    return Prepared(**json.loads(done.stdout))


def _fill(project_id: str, names: int, agents: int, types: Sequence[str]) -> Prepared:
    from django.utils import timezone  # noqa: PLC0415  needs django.setup()

    from ingest.cloud_profiler.names import Issued, issue  # noqa: PLC0415
    from projects.models import Agent, Deployment, Project, Quota  # noqa: PLC0415
    from projects.profile_types import ProfileType  # noqa: PLC0415

    project, now = Project.objects.get(project_id=project_id), timezone.now()
    seen = {"first_seen": now, "last_seen": now}
    Quota.objects.create(project=project, profiles_per_minute=10**6, profiles_per_day=10**6)
    deployments = Deployment.objects.bulk_create(
        Deployment(project=project, service=f"service-{i}", profiled=["CPU"], **seen)
        for i in range(min(_DEPLOYMENTS, agents))
    )
    rows = Agent.objects.bulk_create(
        Agent(
            deployment=deployments[i % len(deployments)],
            identity=str(uuid.uuid4()),
            types=["CPU"],  # the types that it will offer, so that its handshake changes nothing
            **seen,
        )
        for i in range(agents)
    )
    by_type = [
        Issued(ProfileType(type), project.pk, deployments[0].pk, rows[0].pk, time.time())
        for type in types
    ]
    return Prepared(
        names=[issue(by_type[i % len(types)], project_id) for i in range(names)],
        agents=[(agent.deployment.service, agent.identity) for agent in rows],
    )


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
    django.setup()
    filled = _fill(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    print(json.dumps(asdict(filled)))
