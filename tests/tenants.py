"""Create a project with its owner and keys, in one process instead of one for each command.

python -m tests.tenants NAME EMAIL, with the owner's password on stdin, in a server's environment.
"""

import json
import os
import sys

import django


def main(name: str, email: str, password: str) -> dict[str, str]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
    django.setup()
    from projects.credentials import keys
    from projects.models import User
    from projects.project_ids import create_project

    project = create_project(name, User.objects.create_user(email, password))
    return {
        "project": project.project_id,
        "write": keys.create(project, "agents")[1],
        "read": keys.create(project, "reader", write=False, read=True)[1],
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], sys.stdin.read())))
