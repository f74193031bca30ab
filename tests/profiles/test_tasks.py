"""What beat starts, and that two at once do no harm."""

from datetime import timedelta

import pytest
from django.utils import timezone

from profiler_site.celery import app
from profiles import tasks
from profiles.models import Block, Lease, Profile
from profiles.rollup.lease import KEPT, lease
from projects.models import Project
from tests.profiles import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    monkeypatch.setitem(app.conf, "task_eager_propagates", True)


@pytest.mark.usefixtures("at_once")
def test_the_roll_up_goes_through_all_projects_with_something_to_do(project: Project) -> None:
    shop = rows.deployment(project)
    rows.stored(shop)
    old = timezone.now() - timedelta(days=3)
    Profile.objects.update(time=old, stored_at=old)
    tasks.roll_up.delay()
    assert sorted(Block.objects.values_list("level", flat=True)) == ["day", "hour"]
    assert not Profile.objects.exists()
    assert not Lease.objects.exists()


@pytest.mark.usefixtures("at_once")
def test_retention_goes_through_all_projects(project: Project) -> None:
    rows.stored(rows.deployment(project))
    Profile.objects.update(time=timezone.now() - timedelta(days=40))
    tasks.retain.delay()
    assert not Profile.objects.exists()
    tasks.sweep_blobs.delay()


def test_a_job_that_someone_does_is_left_alone(project: Project) -> None:
    with lease("roll-up") as first, lease("roll-up") as second, lease("other") as other:
        assert (first, second, other) == (True, False, True)
    with lease("roll-up") as again:
        assert again


def test_a_lease_of_one_who_died_ends(project: Project) -> None:
    late = timezone.now() - KEPT
    Lease.objects.create(job="roll-up", holder="dead", until=late)
    with lease("roll-up") as ours:
        assert ours
        assert Lease.objects.get().holder != "dead"


def test_beat_knows_every_task() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)
