"""Compact five profiles in a process of its own.

With the argument "stop", create them in a new database first, report the written blob, and then
wait to be killed.
"""

import sys
import time

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from profiles.compaction import blob_sweep, replace  # noqa: E402
from profiles.compaction.compactor import Compactor  # noqa: E402
from profiles.compaction.lease import lease  # noqa: E402
from profiles.models import Profile  # noqa: E402
from projects.models import Project, User  # noqa: E402
from projects.project_ids import create_project  # noqa: E402
from tests.profiles import rows  # noqa: E402

later = rows.days_later(3)


def stop(*_: object) -> None:
    sys.stdout.write("blob written\n")
    sys.stdout.flush()
    time.sleep(60)


if sys.argv[1] == "stop":
    call_command("migrate", verbosity=0)
    project = create_project("Shop", User.objects.create_user("alice@example.org", "x" * 12))
    for minute in range(5):
        rows.stored(rows.deployment(project), minutes=minute)
    Profile.objects.update(stored_at=rows.NOON)  # long enough ago for any server
    replace._commit = stop  # type: ignore[assignment]
project = Project.objects.get()
assert Profile.objects.count() == 5
with lease(f"roll-up {project.pk}") as ours:
    assert ours or sys.argv[1] != "stop"  # a killed process leaves its lease
    Compactor(project.pk, later).build_level1()
blob_sweep.sweep(later)
