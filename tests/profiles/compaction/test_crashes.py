"""Crashes at any step of a compaction, which must neither lose nor duplicate profiles."""

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiles import retention
from profiles.compaction import blob_sweep
from profiles.compaction.compactor import Compactor
from profiles.models import Blob, Block, Profile
from profiles.storage.blob_store import blobs
from profiles.storage.blobs import BlobUnavailable
from projects.models import Deployment, Project
from tests.examples import examples
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes, stock
from tests.profiles.compaction.long_heads import lower_row_counts

pytestmark = pytest.mark.django_db
LONG = timedelta(days=40)
FEW = 2  # rows from which level 0 blocks are built


class Crash(Exception):
    pass


# Functions called between any two steps of a compaction.
POINTS = [
    "profiles.compaction.build.build_hour",
    "profiles.compaction.replace._set_marks",
    "profiles.compaction.build.build_day",
    "profiles.storage.blobs.files.FileBlobs.put",
    "profiles.compaction.replace._commit",
    "profiles.compaction.replace._remove_blocks",
    "profiles.compaction.replace._remove_rows",
    "profiles.compaction.replace._add",
    "profiles.compaction.replace._sum_hours",
    "profiles.storage.stored_bytes.move",
    "profiles.compaction.blob_sweep._repoint",
    "profiles.storage.blobs.files.FileBlobs.delete",
]


def crashing(target: str, after: bool, on_call: int) -> contextlib.AbstractContextManager[object]:
    """Make the target raise at its nth call, before or after its work."""
    module, _, name = target.rpartition(".")
    owner: object = sys.modules.get(module)
    if owner is None:
        parent, _, cls = module.rpartition(".")
        owner = getattr(sys.modules[parent], cls)
    real: Callable[..., object] = getattr(owner, name)
    calls = 0

    def crash(*args: object, **kwargs: object) -> object:
        nonlocal calls
        calls += 1
        if calls == on_call and not after:
            raise Crash(target)
        done = real(*args, **kwargs)
        if calls == on_call:
            raise Crash(target)
        return done

    return patch.object(owner, name, crash)


def work(project: Project, now: datetime) -> None:
    Compactor(project.pk, now).build_level1()
    with lower_row_counts(FEW, FEW):
        Compactor(project.pk, now).build_level0()
    Compactor(project.pk, now).build_level2()
    blob_sweep.sweep(now + timedelta(days=2))


def arrive(
    shop: Deployment, chance: random.Random, count: int, now: datetime | None = None
) -> None:
    """Store profiles at random times of two days, with more of them recent if `now` is given."""
    for number in range(count):
        minutes: float = chance.randrange(2 * 24 * 60)
        if now is not None and number % 3:
            minutes = (now - rows.NOON).total_seconds() / 60 - chance.randrange(5, 55)
        rows.stored(shop, {"main;a": chance.randrange(1, 99)}, minutes=minutes)


@pytest.mark.slow
@settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    seed=st.integers(0, 10**6),
    crashes=st.lists(
        st.tuples(st.sampled_from(POINTS), st.booleans(), st.integers(1, 3)), max_size=4
    ),
)
def test_crashes_at_any_step_neither_lose_nor_duplicate_profiles(
    seed: int, crashes: list[tuple[str, bool, int]], shop: Deployment
) -> None:
    project, chance = shop.project, random.Random(seed)
    now = rows.days_later(6)
    for target, after, on_call in [*crashes, ("", False, 0)]:
        arrive(shop, chance, 9, now)
        before = stock(project)
        if target:
            with contextlib.suppress(Crash), crashing(target, after, on_call):
                work(project, now)
            assert stock(project) == before
        now += timedelta(minutes=chance.choice([7, 70, 200]))
    now += timedelta(hours=3)
    work(project, now)
    assert stock(project) == before == Counter(before.keys())
    assert not Profile.objects.filter(project=project).exists()
    assert counted_bytes(project) == really_stored_bytes(project)
    assert set(Blob.objects.values_list("key", flat=True)) <= {b.key for b in blobs().list()}


def test_retention_between_rollups_deletes_expired_profiles_only(
    project: Project, shop: Deployment
) -> None:
    chance = random.Random(3)
    now = rows.days_later(5)
    arrive(shop, chance, 30)
    work(project, now)
    for step in range(12):
        retention.retain(project.pk, rows.NOON + timedelta(days=30, hours=7 * step))
        work(project, now)
        limit = rows.NOON + timedelta(hours=7 * step)
        times = [
            block.first for block in Block.objects.filter(project=project) if block.last >= limit
        ]
        assert all(time >= limit - timedelta(hours=7) for time in times)
        assert counted_bytes(project) == really_stored_bytes(project)


def test_unavailable_blob_store_leaves_all_profiles_in_the_head(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.stored(shop)

    def away(*_: object) -> None:
        raise BlobUnavailable("s3://bucket failed")

    with monkeypatch.context() as patched:
        patched.setattr(type(blobs()), "put", away)
        with pytest.raises(BlobUnavailable):
            Compactor(project.pk, later).build_level1()
    assert Profile.objects.count() == 1
    assert Compactor(project.pk, later).build_level1() == 1


@pytest.mark.slow
def test_blob_left_by_a_killed_process_is_deleted(tmp_path: Path) -> None:
    """Check that another process continues after a kill between blob and commit."""
    database, folder = tmp_path / "killed.sqlite3", tmp_path / "blobs"
    environment = os.environ | {
        "FLAMEWATCH_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{database}",
        "BLOB_URL": f"file://{folder}",
        "DJANGO_SETTINGS_MODULE": "profiler_site.settings",
    }
    program = [sys.executable, "-m", "tests.profiles.compaction.compact_one"]
    with subprocess.Popen(
        [*program, "stop"], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "blob written\n"
        process.kill()
    assert len(_files(folder)) == 1
    assert _counts(database) == (5, 0)
    subprocess.run([*program, "go on"], env=environment, check=True)
    assert _counts(database) == (0, 5)
    assert len(_files(folder)) == 1


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _counts(database: Path) -> tuple[int, int]:
    with sqlite3.connect(database) as reopened:
        (head,) = reopened.execute("SELECT count(*) FROM profiles_profile").fetchone()
        (blocks,) = reopened.execute("SELECT sum(profiles) FROM profiles_block").fetchone()
    return head, blocks or 0


def test_deleting_a_project_deletes_its_blocks_and_blobs(
    project: Project, shop: Deployment, later: datetime
) -> None:
    rows.stored(shop)
    work(project, later)
    project.delete()
    assert not Block.objects.exists()
    assert not Blob.objects.exists()
    blob_sweep.delete_unknown(timezone.now() + LONG)
    assert list(blobs().list()) == []
