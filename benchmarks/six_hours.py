"""Store six hours of profiles of shape A, 15 s apart, as blocks in a server's database.

Run `python -m benchmarks.six_hours PROJECT END` in the server's environment; END is RFC 3339.
"""

import os
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup()

from benchmarks.shapes import variants
from profiles.compaction import hour_blocks
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.models import TimeSource
from profiles.storage.insert import insert
from profiles.storage.new_profile import NewProfile, new_profile
from projects.models import Deployment, Project
from projects.profile_types import ProfileType

PROFILES, VARIANTS, APART = 1_440, 64, timedelta(seconds=15)


def _profiles(of: Deployment, end: datetime) -> Iterator[NewProfile]:
    raws = list(variants(VARIANTS))
    digested = [decode_profile(raw, ProfileType.CPU, DecodeLimits()) for raw in raws]
    for i in range(PROFILES):
        yield new_profile(
            digested[i % VARIANTS],
            raws[i % VARIANTS],
            project=of.project_id,
            deployment=of.pk,
            agent=None,
            service=of.service,
            type=ProfileType.CPU,
            time=end - (i + 1) * APART,
            time_source=TimeSource.ASSIGNED,
            labels={},
            name_id=f"six-hours-{i}",
        )


def fill(project: Project, end: datetime) -> None:
    seen = {"first_seen": end - PROFILES * APART, "last_seen": end}
    shop = Deployment.objects.create(project=project, service="shop", profiled=["CPU"], **seen)
    insert([*_profiles(shop, end)])
    hour_blocks.compact_hours(project.pk, end + timedelta(days=1))


if __name__ == "__main__":
    fill(Project.objects.get(project_id=sys.argv[1]), datetime.fromisoformat(sys.argv[2]))
