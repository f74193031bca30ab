"""Delete the profiles of a zone in a process of its own, in a new database.

The argument names the point at which the process waits to be killed; "resume" ends the job.
"""

import sys
import time

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db.models import Sum  # noqa: E402
from django.utils import timezone  # noqa: E402

from profiles.compaction import blob_sweep, replace  # noqa: E402
from profiles.compaction.compactor import Compactor  # noqa: E402
from profiles.deletion import jobs, runner  # noqa: E402
from profiles.deletion.jobs import DeletionSelection  # noqa: E402
from profiles.models import Block, DeletionJob, Profile  # noqa: E402
from projects.models import User  # noqa: E402
from projects.project_ids import create_project  # noqa: E402
from tests.profiles import rows  # noqa: E402
from tests.profiles.deletion.run_jobs import run_pass, run_to_end  # noqa: E402


def stop(*_: object) -> None:
    sys.stdout.write("stopped\n")
    sys.stdout.flush()
    time.sleep(60)


if sys.argv[1] == "resume":
    job = DeletionJob.objects.get()
    run_to_end(job)
    stored = Block.objects.filter(resolution="hour").aggregate(total=Sum("profiles"))["total"]
    assert not Profile.objects.exists()
    assert blob_sweep.find_unused_bytes(job.project_id, timezone.now()) == []
    print(f"done: {job.profiles} profiles of eu deleted, {stored} of us stored")
    sys.exit()

call_command("migrate", verbosity=0)
project = create_project("Shop", User.objects.create_user("alice@example.org", "x" * 12))
for number in range(12):
    for service, zone in (("shop", "eu"), ("shop", "us"), ("other", "us")):
        rows.stored(rows.deployment(project, service, zone=zone), minutes=number * 10)
Compactor(project.pk, rows.days_later(3)).build_level1()
job = jobs.request_deletion(project, DeletionSelection(zone="eu"), actor=None)
if sys.argv[1] == "blob":
    replace._commit = stop  # type: ignore[assignment]
elif sys.argv[1] == "commit":
    runner._SelectionDeletion._set_cursor = stop  # type: ignore[assignment, method-assign]
else:
    blob_sweep._repoint = stop  # type: ignore[assignment]
run_pass(job)
