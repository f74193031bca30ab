"""Create a project with its owner and keys, in one process instead of one for each command.

python -m tests.tenants NAME EMAIL QUOTAS, with the owner's password on stdin, in a server's
environment. The quotas are fields of a Quota, as JSON.
"""

import json
import os
import sys

import django


def main(name: str, email: str, quotas: str, password: str) -> dict[str, str]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
    django.setup()
    from projects.credentials import keys
    from projects.models import Quota, User
    from projects.project_ids import create_project

    project = create_project(name, User.objects.create_user(email, password))
    if fields := json.loads(quotas):
        Quota.objects.create(project=project, **fields)
    return {
        "project": project.project_id,
        "write": keys.create(project, "agents")[1],
        "read": keys.create(project, "reader", write=False, read=True)[1],
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.stdin.read())))
