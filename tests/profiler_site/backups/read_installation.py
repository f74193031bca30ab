"""Print what an installation has, in a process of its own: profiles, results, credentials.

The argument is a JSON object with the API key of a reader and the password of alice@example.org.
"""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup()

from django.contrib.sessions.models import Session  # noqa: E402

from profiler_site.process.migration import migrate  # noqa: E402
from profiles.models import Blob, Lease  # noqa: E402
from profiles.storage.blob_store import blobs  # noqa: E402
from projects.models import Project, User  # noqa: E402
from tests.ingest.client import Client  # noqa: E402
from tests.profiles.compaction.inventory import stock  # noqa: E402

QUIET = "service=quiet&type=CPU&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z"


def read(reader: str, password: str) -> dict[str, object]:
    project = Project.objects.get()
    client = Client(project.project_id, reader)
    present = {entry.key for entry in blobs().list()}
    live = Blob.objects.filter(dead_since=None).values_list("key", flat=True)
    return {
        "tree": client.request("GET", f"/api/v1/projects/-/tree?{QUIET}").json(),
        "history": client.request("GET", f"/api/v1/projects/-/history?{QUIET}").json(),
        "copies": sorted(stock(project).values()),
        "missing": sorted(set(live) - present),
        "signs_in": User.objects.get(email="alice@example.org").check_password(password),
        "sessions": Session.objects.count(),
        "leases": Lease.objects.count(),
    }


if __name__ == "__main__":
    migrate()
    print(json.dumps(read(**json.loads(sys.argv[1]))))
