"""Issue profile names for given times, in a server's environment.

Run `python -m benchmarks.ingest.beside_pyroscope.names PROJECT TYPE`: reads a JSON list of
Unix times in seconds from stdin, and prints a JSON list of names.
"""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup()

from ingest.cloud_profiler.names import Issued, issue
from projects.models import Agent
from projects.profile_types import ProfileType


def names(project_id: str, type: ProfileType, times: list[float]) -> list[str]:
    agent = Agent.objects.select_related("deployment__project").get(
        deployment__project__project_id=project_id
    )
    deployment = agent.deployment
    return [
        issue(
            Issued(
                type=type,
                project=deployment.project_id,
                deployment=deployment.pk,
                agent=agent.pk,
                issued=time,
            ),
            project_id,
        )
        for time in times
    ]


if __name__ == "__main__":
    print(json.dumps(names(sys.argv[1], ProfileType(sys.argv[2]), json.load(sys.stdin))))
