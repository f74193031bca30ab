"""Periodic tasks started by beat, and their safe concurrent execution."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from profiler_site.celery import app
from profiles import tasks
from profiles.compaction import lease as lease_module
from profiles.compaction.lease import LEASE_SECONDS, lease, release_all
from profiles.models import Block, Lease, Profile
from projects.models import Project
from tests.profiles import rows
from tests.waiting import until

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    monkeypatch.setitem(app.conf, "task_eager_propagates", True)


@pytest.mark.usefixtures("at_once")
def test_rollup_runs_for_every_project_with_pending_series(project: Project) -> None:
    shop = rows.deployment(project)
    rows.stored(shop)
    old = timezone.now() - timedelta(days=3)
    Profile.objects.update(time=old, stored_at=old)
    tasks.roll_up.delay()
    assert sorted(block.level for block in Block.objects.all()) == [1, 2]
    assert not Profile.objects.exists()
    assert not Lease.objects.exists()


@pytest.mark.usefixtures("at_once")
def test_retention_runs_for_every_project(project: Project) -> None:
    rows.stored(rows.deployment(project))
    Profile.objects.update(time=timezone.now() - timedelta(days=40))
    tasks.retain.delay()
    assert not Profile.objects.exists()
    tasks.sweep_blobs.delay()


def test_leased_job_is_not_leased_again(project: Project) -> None:
    with lease("roll-up") as first, lease("roll-up") as second, lease("other") as other:
        assert (first, second, other) == (True, False, True)
    with lease("roll-up") as again:
        assert again


def test_expired_lease_of_a_dead_worker_is_taken_over(project: Project) -> None:
    taken = timezone.now() - timedelta(seconds=LEASE_SECONDS + 1)
    ends = taken + timedelta(seconds=LEASE_SECONDS)
    Lease.objects.create(job="roll-up", holder="dead", until=ends)
    with lease("roll-up") as ours:
        assert ours
        assert Lease.objects.get().holder != "dead"


def test_lease_lasts_120_seconds_at_most_and_is_renewed_in_time() -> None:
    assert LEASE_SECONDS <= 120
    assert lease_module.RENEW_SECONDS * 3 < LEASE_SECONDS


def test_release_all_drops_leases_of_earlier_processes() -> None:
    Lease.objects.create(job="roll-up", holder="dead", until=timezone.now() + timedelta(hours=1))
    release_all()
    with lease("roll-up") as ours:
        assert ours


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_while_its_job_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_module, "RENEW_SECONDS", 0.05)
    with lease("roll-up") as ours:
        assert ours
        first = Lease.objects.get().until
        until(lambda: Lease.objects.get().until > first, 30, "a renewal")
        with lease("roll-up") as another:
            assert not another
    assert not Lease.objects.exists()
    assert "lease-renewal" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.django_db(transaction=True)
def test_a_renewal_that_fails_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lease_module, "RENEW_SECONDS", 0.05)
    real, failed = timezone.now, threading.Event()

    def away() -> object:
        if threading.current_thread().name == "lease-renewal" and not failed.is_set():
            failed.set()
            raise OperationalError("away")
        return real()

    monkeypatch.setattr(timezone, "now", away)
    with lease("roll-up"):
        first = Lease.objects.get().until
        until(lambda: Lease.objects.get().until > first, 30, "a renewal")
    assert "retrying: away" in caplog.text


def test_every_task_of_the_beat_schedule_is_registered() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)
