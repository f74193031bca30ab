"""Compaction of the hour blocks of closed days, and their rollup."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from profiles.compaction import build, plan
from profiles.compaction.compactor import Compactor
from profiles.compaction.pending_series import MIN_ROWS_ENDED_HOUR
from profiles.compaction.plan import RESUM_AFTER, find_projects_with_days
from profiles.engine.blocks import BlockProfile, HourBlock, build_day, build_hour
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.errors import TooLarge
from profiles.models import Blob, Block, BlockLevel, Resolution
from profiles.storage.windows import get_closed_days_end
from projects.models import Deployment, Project
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes, stock

pytestmark = pytest.mark.django_db
MIDNIGHT = rows.NOON + timedelta(hours=12)


def roll_up(project: Project, later: datetime) -> None:
    Compactor(project.pk, later).build_level1()
    Compactor(project.pk, later).build_level2()


def test_a_day_is_closed_when_its_hours_are_rolled_up() -> None:
    closing = MIDNIGHT + timedelta(hours=1, minutes=20)
    assert get_closed_days_end(closing) == MIDNIGHT
    assert get_closed_days_end(closing - timedelta(minutes=1)) == MIDNIGHT - timedelta(days=1)


def test_hours_of_few_profiles_are_merged_and_covered_by_the_day(
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


def test_hours_of_many_profiles_are_not_merged(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MAX_SHARED_PROFILES", 3)
    for minute in range(0, 240, 20):
        rows.stored(shop, minutes=minute)
    Compactor(project.pk, later).build_level1()
    made = set(Block.objects.values_list("pk", flat=True))
    assert Compactor(project.pk, later).build_level2() == 1
    assert (
        set(Block.objects.get(resolution=Resolution.DAY).hour_blocks.values_list("pk", flat=True))
        == made
    )


def test_a_day_waits_until_its_level_0_blocks_are_hour_blocks(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for minute in range(MIN_ROWS_ENDED_HOUR):
        rows.stored(shop, minutes=minute)
    assert Compactor(project.pk, later).build_level0() == MIN_ROWS_ENDED_HOUR
    assert find_projects_with_days(later) == []
    assert Compactor(project.pk, later).build_level2() == 0
    Compactor(project.pk, later).build_level1()
    assert Compactor(project.pk, later).build_level2() == 1


def test_a_day_waits_until_all_of_its_level_0_blocks_are_hour_blocks(
    project: Project, shop: Deployment, later: datetime
) -> None:
    rows.stored(shop, minutes=300)
    Compactor(project.pk, later).build_level1()
    for minute in range(MIN_ROWS_ENDED_HOUR):
        rows.stored(shop, minutes=minute)
    assert Compactor(project.pk, later).build_level0() == MIN_ROWS_ENDED_HOUR
    assert Compactor(project.pk, later).build_level2() == 0
    Compactor(project.pk, later).build_level1()
    assert Compactor(project.pk, later).build_level2() == 1
    assert Block.objects.get(resolution=Resolution.DAY).profiles == MIN_ROWS_ENDED_HOUR + 1


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
    Compactor(project.pk, later).build_level1()
    Block.objects.filter(resolution=Resolution.PROFILE, day_block=None).update(created=later)
    assert Compactor(project.pk, later).build_level2() == 0
    assert Compactor(project.pk, later + RESUM_AFTER).build_level2() == 1
    assert Block.objects.get(resolution=Resolution.DAY).profiles == 3
    assert Block.objects.get(resolution=Resolution.PROFILE).profiles == 3


def test_a_damaged_hour_is_quarantined_and_the_others_are_summed(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MAX_SHARED_PROFILES", 1)
    for minute in (0, 60, 120):
        rows.stored(shop, minutes=minute)
    Compactor(project.pk, later).build_level1()
    damaged = Block.objects.order_by("start")[1]
    Block.objects.filter(pk=damaged.pk).update(length=damaged.length // 2)
    Compactor(project.pk, later).build_level2()
    Compactor(project.pk, later).build_level2()
    assert Block.objects.get(resolution=Resolution.DAY).profiles == 2
    assert list(Block.objects.filter(quarantined=True)) == [damaged]
    assert list(Compactor(project.pk, later).plan(BlockLevel.LEVEL_2)) == []


def test_concurrent_rollups_of_a_day_store_it_once(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.stored(shop)
    Compactor(project.pk, later).build_level1()

    def beaten(blocks: Sequence[HourBlock]) -> bytes:
        monkeypatch.setattr(build, "build_day", build_day)
        assert Compactor(project.pk, later).build_level2() == 1
        return build_day(blocks)

    monkeypatch.setattr(build, "build_day", beaten)
    assert Compactor(project.pk, later).build_level2() == 0
    assert Block.objects.filter(resolution=Resolution.DAY).count() == 1


def test_days_share_a_blob_and_each_covers_its_own_hours(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for minute in range(0, 3 * 24 * 60, 90):
        rows.stored(shop, minutes=minute)
        rows.stored(rows.deployment(project, service="other"), minutes=minute)
    Compactor(project.pk, later).build_level1()
    before = stock(project)
    blobs = Blob.objects.count()
    assert Compactor(project.pk, later).build_level2() == 8
    assert Blob.objects.count() == blobs + 2  # merged hours, and days
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
    Compactor(project.pk, max(at, later_than_now())).build_level1()
    assert list(Compactor(project.pk, at).plan(BlockLevel.LEVEL_2)) == []
    assert len(list(Compactor(project.pk, at - timedelta(days=1)).plan(BlockLevel.LEVEL_2))) == 1


def later_than_now() -> datetime:
    return timezone.now() + timedelta(hours=1)


def test_hours_beyond_the_bytes_of_one_block_are_not_merged(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        rows.stored(shop, minutes=60 * number)
    Compactor(project.pk, later).build_level1()
    before = stock(project)
    length = Block.objects.order_by("pk")[0].length
    monkeypatch.setattr(plan, "MAX_SOURCE_BYTES", int(2.5 * length))
    assert Compactor(project.pk, later).build_level2() == 1
    hours = Block.objects.filter(resolution=Resolution.PROFILE)
    assert [hour.profiles for hour in hours.order_by("start")] == [2, 2]
    assert {hour.day_block for hour in hours} == {Block.objects.get(resolution=Resolution.DAY)}
    assert stock(project) == before


def test_summed_hours_are_merged_with_late_ones(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for number in range(4):
        rows.stored(shop, minutes=60 * number)
    roll_up(project, later)
    rows.stored(shop, minutes=5)
    before = stock(project)
    Compactor(project.pk, later).build_level1()
    Block.objects.filter(day_block=None, resolution=Resolution.PROFILE).update(
        created=later - 2 * RESUM_AFTER
    )
    assert Compactor(project.pk, later).build_level2() == 1
    (hour,) = Block.objects.filter(resolution=Resolution.PROFILE)
    (day,) = Block.objects.filter(resolution=Resolution.DAY)
    assert (hour.profiles, day.profiles, hour.day_block) == (5, 5, day)
    assert stock(project) == before
    assert counted_bytes(project) == really_stored_bytes(project)


def test_a_day_with_too_many_nodes_stays_in_hour_blocks(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.stored(shop)

    def reject(_blocks: Sequence[HourBlock]) -> bytes:
        raise TooLarge("max_nodes", 2, 1)

    Compactor(project.pk, later).build_level1()
    monkeypatch.setattr(build, "build_day", reject)
    assert Compactor(project.pk, later).build_level2() == 0
    assert [*Block.objects.values_list("resolution", "quarantined")] == [("hour", False)]
    assert list(Compactor(project.pk, later).plan(BlockLevel.LEVEL_2)) == []


def test_sources_with_too_many_nodes_become_several_blocks(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for minute in range(3 * MIN_ROWS_ENDED_HOUR):
        rows.stored(shop, minutes=minute)
    monkeypatch.setattr(plan, "MAX_PROFILES", MIN_ROWS_ENDED_HOUR)
    assert Compactor(project.pk, later).build_level0() == 3 * MIN_ROWS_ENDED_HOUR
    monkeypatch.undo()
    before = stock(project)

    def limited(
        profiles: Sequence[BlockProfile],
        blocks: Sequence[tuple[HourBlock, Rows | None]] = (),
        **options: int,
    ) -> bytes:
        if len(blocks) > 2:
            raise TooLarge("max_nodes", 2, 1)
        return build_hour(profiles, blocks, **options)

    monkeypatch.setattr(build, "build_hour", limited)
    Compactor(project.pk, later).build_level1()
    found = Block.objects.order_by("start", "profiles").values_list("profiles", flat=True)
    assert sorted(found) == [MIN_ROWS_ENDED_HOUR, 2 * MIN_ROWS_ENDED_HOUR]
    assert not Block.objects.filter(is_level0=True).exists()
    assert stock(project) == before
