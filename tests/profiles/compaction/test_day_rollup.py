"""Compaction of the hour blocks of closed days, and their rollup."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from profiles.compaction import day_rollup, hour_blocks, level0
from profiles.compaction.pending_series import LEFT
from profiles.compaction.windows import days_before
from profiles.models import Blob, Block, Resolution
from projects.models import Deployment, Project
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes, stock

pytestmark = pytest.mark.django_db
MIDNIGHT = rows.NOON + timedelta(hours=12)


def roll_up(project: Project, later: datetime) -> None:
    hour_blocks.compact_hours(project.pk, later)
    day_rollup.roll_up_days(project.pk, later)


def test_a_day_is_closed_when_its_hours_are_rolled_up() -> None:
    assert days_before(MIDNIGHT + timedelta(hours=1, minutes=20)) == MIDNIGHT
    assert days_before(MIDNIGHT + timedelta(hours=1, minutes=19)) == MIDNIGHT - timedelta(days=1)


def test_quiet_hours_are_joined_and_the_day_covers_them(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for minute in range(0, 600, 20):
        rows.stored(shop, minutes=minute)
    before = stock(project)
    roll_up(project, later)
    hour = Block.objects.get(resolution=Resolution.PROFILE)
    day = Block.objects.get(resolution=Resolution.DAY)
    assert (hour.start, hour.end) == (rows.NOON, rows.NOON + timedelta(hours=10))
    assert (day.start, day.end) == (MIDNIGHT - timedelta(days=1), MIDNIGHT)
    assert (hour.profiles, day.profiles, hour.day_block) == (30, 30, day)
    assert stock(project) == before
    assert counted_bytes(project) == really_stored_bytes(project)


def test_busy_hours_stay_as_they_are(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_rollup, "SMALL", 3)
    for minute in range(0, 240, 20):
        rows.stored(shop, minutes=minute)
    hour_blocks.compact_hours(project.pk, later)
    made = set(Block.objects.values_list("pk", flat=True))
    assert day_rollup.roll_up_days(project.pk, later) == 1
    assert (
        set(Block.objects.get(resolution=Resolution.DAY).hour_blocks.values_list("pk", flat=True))
        == made
    )


def test_a_day_waits_until_its_level_0_blocks_are_hour_blocks(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for minute in range(LEFT):
        rows.stored(shop, minutes=minute)
    assert level0.compact_long_heads(project.pk, later) == LEFT
    assert day_rollup.projects_with_pending_days(later) == []
    assert day_rollup.roll_up_days(project.pk, later) == 0
    hour_blocks.compact_hours(project.pk, later)
    assert day_rollup.roll_up_days(project.pk, later) == 1


def test_a_day_waits_until_all_of_its_level_0_blocks_are_hour_blocks(
    project: Project, shop: Deployment, later: datetime
) -> None:
    rows.stored(shop, minutes=300)
    hour_blocks.compact_hours(project.pk, later)
    for minute in range(LEFT):
        rows.stored(shop, minutes=minute)
    assert level0.compact_long_heads(project.pk, later) == LEFT
    assert day_rollup.roll_up_days(project.pk, later) == 0
    hour_blocks.compact_hours(project.pk, later)
    assert day_rollup.roll_up_days(project.pk, later) == 1
    assert Block.objects.get(resolution=Resolution.DAY).profiles == LEFT + 1


def test_late_profiles_are_waited_for_before_the_day_is_summed_again(
    project: Project, shop: Deployment, later: datetime
) -> None:
    rows.stored(shop)
    roll_up(project, later)
    rows.stored(shop, minutes=5)
    roll_up(project, later)
    assert Block.objects.get(resolution=Resolution.DAY).profiles == 2
    Block.objects.filter(resolution=Resolution.DAY).update(created=later)
    rows.stored(shop, minutes=6)
    hour_blocks.compact_hours(project.pk, later)
    Block.objects.filter(resolution=Resolution.PROFILE, day_block=None).update(created=later)
    assert day_rollup.roll_up_days(project.pk, later) == 0
    assert day_rollup.roll_up_days(project.pk, later + day_rollup.RESUM_AFTER) == 1
    assert Block.objects.get(resolution=Resolution.DAY).profiles == 3
    assert Block.objects.get(resolution=Resolution.PROFILE).profiles == 3


def test_a_damaged_hour_is_quarantined_and_the_others_are_summed(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_rollup, "SMALL", 1)
    for minute in (0, 60, 120):
        rows.stored(shop, minutes=minute)
    hour_blocks.compact_hours(project.pk, later)
    damaged = Block.objects.order_by("start")[1]
    Block.objects.filter(pk=damaged.pk).update(length=damaged.length // 2)
    day_rollup.roll_up_days(project.pk, later)
    day_rollup.roll_up_days(project.pk, later)
    assert Block.objects.get(resolution=Resolution.DAY).profiles == 2
    assert list(Block.objects.filter(quarantined=True)) == [damaged]
    assert day_rollup.pending_days(project.pk, later) == []


def test_two_that_sum_the_same_day_leave_one(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.stored(shop)
    hour_blocks.compact_hours(project.pk, later)
    build = day_rollup._day

    def beaten(*arguments: object) -> object:
        monkeypatch.setattr(day_rollup, "_day", build)
        assert day_rollup.roll_up_days(project.pk, later) == 1
        return build(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(day_rollup, "_day", beaten)
    assert day_rollup.roll_up_days(project.pk, later) == 0
    assert Block.objects.filter(resolution=Resolution.DAY).count() == 1


def test_days_share_a_blob_and_each_covers_its_own_hours(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for minute in range(0, 3 * 24 * 60, 90):
        rows.stored(shop, minutes=minute)
        rows.stored(rows.deployment(project, service="other"), minutes=minute)
    hour_blocks.compact_hours(project.pk, later)
    before = stock(project)
    blobs = Blob.objects.count()
    assert day_rollup.roll_up_days(project.pk, later) == 8
    assert Blob.objects.count() == blobs + 1
    for day in Block.objects.filter(resolution=Resolution.DAY):
        covered = list(day.hour_blocks.all())
        assert sum(hour.profiles for hour in covered) == day.profiles
        assert {hour.service for hour in covered} == {day.service}
    assert stock(project) == before


def test_a_day_that_is_partly_too_old_is_not_summed_again(
    project: Project, shop: Deployment
) -> None:
    rows.stored(shop)
    at = rows.NOON + timedelta(days=30)
    hour_blocks.compact_hours(project.pk, max(at, later_than_now()))
    assert day_rollup.pending_days(project.pk, at) == []
    assert len(day_rollup.pending_days(project.pk, at - timedelta(days=1))) == 1


def later_than_now() -> datetime:
    return timezone.now() + timedelta(hours=1)
