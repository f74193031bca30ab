"""Insert sets of profiles into the database and blob store with the server's own functions.

Run `python -m benchmarks.queries.latency.sets PROJECT SIZES` in the server's environment;
SIZES is JSON.
"""

import base64
import json
import os
import random
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby, islice

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup()

from django.db.models import F
from django.utils import timezone

from benchmarks.queries.latency.sizes import START, Sizes
from benchmarks.tools.shapes import INSTANCES, trees
from profiles.compaction.compactor import Compactor
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import encode
from profiles.engine.metrics import Metric, find_default
from profiles.models import Block, Profile, TimeSource
from profiles.storage.insert import insert
from profiles.storage.new_profile import NewProfile
from profiles.storage.profile_content import ProfileContent
from projects.models import Deployment, Project, Quota
from projects.profile_types import ProfileType

BATCH = 500


def fill(project: Project, sizes: Sizes) -> None:
    Quota.objects.create(project=project, retention_days=10_000)
    rolled_up = [
        _course("A", sizes.a_days * 5_760, timedelta(seconds=15), _deployments(project, "a", 1)),
        _course("D", sizes.d_days * 1_440, timedelta(minutes=1), _deployments(project, "d", 1)),
    ]
    for course in rolled_up:
        _store(course)
    later = timezone.now() + timedelta(days=3)
    Compactor(project.pk, later).build_level1()
    Compactor(project.pk, later).build_level2()
    # These sets stay in the head because nothing compacts them afterwards.
    _store(_course("A", sizes.pair, timedelta(seconds=15), _deployments(project, "head-a", 1)))
    many = _deployments(project, "head-d", sizes.deployments)
    _store(_course("D", sizes.many, timedelta(hours=1) / sizes.many, many))
    # These sets arrive while compaction runs every minute.
    _live(_course("A", sizes.pair, timedelta(seconds=15), _deployments(project, "live-a", 1)))
    many = _deployments(project, "live-d", sizes.deployments)
    _live(_course("D", sizes.many, timedelta(hours=1) / sizes.many, many))


def _deployments(project: Project, service: str, count: int) -> list[Deployment]:
    seen = {"first_seen": START, "last_seen": START}
    return Deployment.objects.bulk_create(
        Deployment(project=project, service=service, version=str(i), profiled=["CPU"], **seen)
        for i in range(count)
    )


def _store(profiles: Iterator[NewProfile]) -> None:
    while batch := list(islice(profiles, BATCH)):
        insert(batch)


def _live(profiles: Iterator[NewProfile]) -> None:
    """Store each profile at its capture time, and run compaction after every minute."""
    for minute, arrived in groupby(profiles, lambda each: each.time.replace(second=0)):
        batch, now = list(arrived), minute + timedelta(minutes=1)
        of = {"project": batch[0].project, "service": batch[0].service}
        insert(batch)
        Profile.objects.filter(**of, stored_at__gt=now).update(stored_at=F("time"))
        Compactor(batch[0].project, now).build_level1()
        Compactor(batch[0].project, now).build_level0()
        Block.objects.filter(**of, created__gt=now).update(created=now)


def _course(
    shape: str, count: int, step: timedelta, deployments: list[Deployment]
) -> Iterator[NewProfile]:
    """Yield `count` profiles of a shape, `step` apart, cycling through the deployments."""
    rng = random.Random(deployments[0].service)
    for i, tree in enumerate(trees(shape, count)):
        yield _profile(tree, START + i * step, deployments[i % len(deployments)], rng)


def _profile(tree: Tree, time: datetime, of: Deployment, rng: random.Random) -> NewProfile:
    totals = [
        (*metric, int(own.sum())) for metric, own in zip(tree.metrics, tree.self, strict=True)
    ]
    first = find_default(ProfileType.CPU, [Metric(name, unit) for name, unit, _ in totals])
    totals.insert(0, totals.pop(first))
    return NewProfile(
        project=of.project_id,
        deployment=of.pk,
        agent=None,
        service=of.service,
        type=ProfileType.CPU,
        time=time,
        time_source=TimeSource.ASSIGNED,
        duration_ns=10**10,
        labels={"instance": f"web-{rng.randrange(INSTANCES)}"},
        name_id=base64.urlsafe_b64encode(rng.randbytes(48)).decode(),
        content=ProfileContent(
            body_hash=rng.randbytes(16),
            samples=len(tree.id),
            weight=totals[0][2],
            totals=totals,
            tree=encode(tree),
        ),
    )


if __name__ == "__main__":
    fill(Project.objects.get(project_id=sys.argv[1]), Sizes(**json.loads(sys.argv[2])))
