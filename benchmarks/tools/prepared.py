"""Project with registered agents and issued profile names, in a server's database.

Run `python -m benchmarks.tools.prepared PROJECT NAMES AGENTS AGO [TYPE …]` in the server's
environment; it prints JSON.
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
    ago: int = 0,
) -> Prepared:
    """Prepare the project in a separate process, because the environment configures Django.

    The names cycle through `types`. Their times of issue are spread evenly from `ago` to `ago / 2`
    seconds before now.
    """
    numbers = [str(names), str(agents), str(ago)]
    command = [sys.executable, "-m", "benchmarks.tools.prepared", project, *numbers, *types]
    done = subprocess.run(command, env=server.environment, capture_output=True, check=True)
    return Prepared(**json.loads(done.stdout))


def _fill(project_id: str, names: int, agents: int, ago: int, types: Sequence[str]) -> Prepared:
    from django.utils import timezone  # noqa: PLC0415  needs django.setup()

    from ingest.cloud_profiler.names import Issued, issue  # noqa: PLC0415
    from projects.models import Agent, Deployment, Project, Quota  # noqa: PLC0415
    from projects.profile_types import ProfileType  # noqa: PLC0415

    project, now = Project.objects.get(project_id=project_id), timezone.now()
    seen = {"first_seen": now, "last_seen": now}
    most = dict.fromkeys(("profiles_per_minute", "profiles_per_day", "parked_handshakes"), 10**6)
    Quota.objects.create(project=project, **most)
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
    start = time.time() - ago
    issued = [
        Issued(
            type=ProfileType(types[i % len(types)]),
            project=project.pk,
            deployment=deployments[0].pk,
            agent=rows[0].pk,
            issued=start + ago / 2 * i / names,
        )
        for i in range(names)
    ]
    return Prepared(
        names=[issue(each, project_id) for each in issued],
        agents=[(agent.deployment.service, agent.identity) for agent in rows],
    )


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
    django.setup()
    project, names, agents, ago, *types = sys.argv[1:]
    filled = _fill(project, int(names), int(agents), int(ago), types)
    print(json.dumps(asdict(filled)))
