"""Compaction with a worker process, whose crash or kill loses and duplicates no profile."""

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from common.worker_processes.workers import Outcome, Workers
from profiler_site.process import query_program
from profiler_site.process.compaction_program import compaction_program
from profiler_site.process.query_program import query_program as program_of_queries
from profiles import retention
from profiles.compaction import build_workers, compactor
from profiles.compaction.compactor import Compactor
from profiles.models import Block, BlockLevel, Profile, Resolution
from profiles.queries import query_workers
from projects.models import Deployment, Project
from tests.leftovers import unchanged_subreaper
from tests.profiler_site.process import build_jobs
from tests.profiler_site.process.test_query_workers import database_url
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes, stock
from tests.profiles.compaction.unlimited_retention import sum_days
from tests.server import prepared_data

pytestmark = [
    pytest.mark.slow,
    pytest.mark.real,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]
PROFILES = 5


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    monkeypatch.setenv("DATABASE_URL", database_url())
    monkeypatch.setenv("FLAMEWATCH_DATA_DIR", str(prepared_data()))
    monkeypatch.setenv("FLAMEWATCH_SECRET_KEY", settings.SECRET_KEY)
    monkeypatch.setenv("BLOB_URL", settings.BLOB_URL)
    with unchanged_subreaper():
        query_workers.start(program_of_queries(), 1)
        queries = query_workers.running_workers()
        assert queries is not None
        build_workers.start(compaction_program(), queries)
        running = build_workers.running_workers()
        assert running is not None
        yield running
        build_workers.stop()
        query_workers.stop()


@pytest.fixture
def shop(project: Project) -> Deployment:
    """Return a deployment with five profiles of one hour and one of the next."""
    shop = rows.deployment(project)
    for minute in range(PROFILES):
        rows.stored(shop, {"main;a": 1 + minute}, minutes=minute)
    rows.stored(shop, minutes=60)
    return shop


@pytest.fixture
def later() -> datetime:
    return max(rows.NOON, timezone.now()) + timedelta(days=3)


def compact(project: Project, later: datetime) -> None:
    Compactor(project.pk, later).build_level1()
    sum_days(project.pk, later)


def test_all_levels_and_cuts_are_built_by_the_worker(
    project: Project, shop: Deployment, later: datetime, workers: Workers
) -> None:
    before = stock(project)
    compact(project, later)
    (day,) = Block.objects.filter(resolution=Resolution.DAY)
    (hour,) = Block.objects.filter(resolution=Resolution.PROFILE)
    assert (day.profiles, hour.profiles, hour.day_block) == (PROFILES + 1, PROFILES + 1, day)
    assert (hour.start, hour.end) == (rows.NOON, rows.NOON + timedelta(hours=2))
    assert stock(project) == before
    assert counted_bytes(project) == really_stored_bytes(project)
    built = workers.statistics.jobs[Outcome.DONE]
    assert built == 4  # two hours, their merge, the day
    begin = rows.NOON + timedelta(minutes=30) + timedelta(days=30)
    Block.objects.filter(pk=hour.pk).update(first=rows.NOON - timedelta(days=1))
    retention.retain(project.pk, begin + timedelta(minutes=30))
    assert Block.objects.get().profiles == 1
    assert workers.statistics.jobs[Outcome.DONE] == built + 1


def test_worker_has_a_lower_priority_than_queries(
    project: Project, shop: Deployment, later: datetime, workers: Workers
) -> None:
    Compactor(project.pk, later).build_level1()
    queries = query_workers.running_workers()
    assert queries is not None
    (pid,) = workers.process_ids()
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, own + query_program.COSTLY_NICE + 5)
    assert not Path(f"/proc/{pid}/task").joinpath(str(os.getpid())).exists()
    assert pid not in queries.process_ids()


def test_damaged_row_is_quarantined_by_the_server(
    project: Project, shop: Deployment, later: datetime, workers: Workers
) -> None:
    damaged = Profile.objects.order_by("pk")[2]
    Profile.objects.filter(pk=damaged.pk).update(tree=bytes(damaged.tree)[:-5])
    Compactor(project.pk, later).build_level1()
    assert list(Profile.objects.values_list("pk", "quarantined")) == [(damaged.pk, True)]
    assert sum(Block.objects.values_list("profiles", flat=True)) == PROFILES


@pytest.mark.parametrize("kind", ["before", "while it replies"])
def test_killed_worker_changes_nothing_and_the_step_is_done_later(
    kind: str,
    project: Project,
    shop: Deployment,
    later: datetime,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stock(project)
    with monkeypatch.context() as patched:
        if kind == "before":
            patched.setattr(compactor, "build_step", build_jobs.end)
        else:
            patched.setattr(build_workers, "_run_build", build_jobs.send_and_end)
        assert Compactor(project.pk, later).build_level1() == 0
    assert workers.statistics.jobs[Outcome.LOST] == 2  # one for each hour
    assert Profile.objects.filter(quarantined=False).count() == PROFILES + 1
    assert not Block.objects.exists()
    compact(project, later)
    assert stock(project) == before
    assert not Profile.objects.exists()


def test_failed_build_is_logged_and_done_later(
    project: Project,
    shop: Deployment,
    later: datetime,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(compactor, "build_step", build_jobs.fail)
        assert Compactor(project.pk, later).build_level1() == 0
    assert "ZeroDivisionError" in caplog.text
    assert Compactor(project.pk, later).build_level1() == PROFILES + 1


def test_row_that_crashes_the_worker_is_quarantined_alone(
    project: Project,
    shop: Deployment,
    later: datetime,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stock(project)
    row = Profile.objects.order_by("pk")[2]
    monkeypatch.setattr(compactor, "build_step", partial(build_jobs.crash_for_row, row.pk))
    assert Compactor(project.pk, later).build_level1() == PROFILES
    assert list(Profile.objects.values_list("pk", "quarantined")) == [(row.pk, True)]
    assert stock(project) == before
    assert Compactor(project.pk, later).build_level1() == 0


def test_build_beyond_its_memory_is_done_in_parts(
    project: Project,
    shop: Deployment,
    later: datetime,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stock(project)
    for_three_sources = 150 * build_jobs.MIB
    monkeypatch.setattr(settings, "COMPACTION_MEMORY_BYTES", for_three_sources)
    monkeypatch.setattr(compactor, "build_step", build_jobs.need_memory)
    assert Compactor(project.pk, later).build_level1() == PROFILES + 1
    assert workers.statistics.jobs[Outcome.MEMORY_LIMIT] >= 1
    assert stock(project) == before
    assert not Profile.objects.exists()
    assert sorted(Block.objects.values_list("profiles", flat=True)) == [1, 2, 3]


def test_day_that_crashes_the_worker_is_left_as_hours_and_not_tried_again(
    project: Project,
    shop: Deployment,
    later: datetime,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stock(project)
    monkeypatch.setattr(compactor, "build_step", build_jobs.crash_for_days)
    compact(project, later)
    assert workers.statistics.jobs[Outcome.CRASHED] == 1
    assert [*Block.objects.values_list("resolution", "quarantined")] == [("hour", False)]
    assert list(Compactor(project.pk, later).plan(BlockLevel.LEVEL_2)) == []
    assert stock(project) == before
