"""Level 0 blocks: settled head rows of an unfinished hour, compacted once there are enough."""

import itertools
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profiles import retention
from profiles.compaction import build, compactor, plan
from profiles.compaction.compactor import Compactor
from profiles.compaction.pending_series import MIN_COMPACTION_INTERVAL, find_pending_series
from profiles.compaction.plan import find_projects_with_hours
from profiles.compaction.replace import Replacement, replace_sources
from profiles.engine.blocks import COMPRESSION_LEVEL, build_hour
from profiles.engine.encoding.compression import FAST_COMPRESSION_LEVEL
from profiles.models import Block, BlockLevel, Profile
from profiles.query import ProfileSelection, View, run_tree
from profiles.storage.blob_store import blobs
from profiles.storage.blobs import BlobUnavailable
from profiles.storage.blobs.files import FileBlobs
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.examples import examples
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes, stock
from tests.profiles.compaction.long_heads import HOUR, MINUTE, all_came_at_noon, at, pack, stored
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db
_numbers = itertools.count()


@pytest.mark.usefixtures("few")
def test_level_0_blocks_use_a_lower_compression_level_than_hour_blocks(
    project: Project, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels: list[int] = []

    def noted(profiles: Any, parts: Any, *, compression_level: int) -> bytes:
        levels.append(compression_level)
        return build_hour(profiles, parts, compression_level=compression_level)

    monkeypatch.setattr(build, "build_hour", noted)
    stored(shop, 1, 2, 3, 4)
    pack(project, 3.5)
    Compactor(project.pk, rows.NOON + 3 * HOUR).build_level1()
    assert levels == [FAST_COMPRESSION_LEVEL, COMPRESSION_LEVEL]


@pytest.mark.usefixtures("few")
def test_settled_rows_of_a_long_head_become_a_level_0_block(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2, 3, 4, 5)
    before = stock(project)
    assert pack(project, 3.5) == 3
    part = Block.objects.get()
    assert (part.level, part.profiles) == (BlockLevel.LEVEL_0, 3)
    assert (part.start, part.end) == (rows.NOON + MINUTE, rows.NOON + 4 * MINUTE)
    assert [row.time for row in Profile.objects.order_by("time")] == [
        rows.NOON + 4 * MINUTE,
        rows.NOON + 5 * MINUTE,
    ]
    assert stock(project) == before
    assert counted_bytes(project) == really_stored_bytes(project)


@pytest.mark.usefixtures("few")
def test_unsettled_rows_stay_in_the_head(project: Project, shop: Deployment) -> None:
    stored(shop, 1, 2, 3)
    assert pack(project, 2.9) == 0
    assert pack(project, 3.5) == 3


@pytest.mark.usefixtures("few")
def test_late_profiles_of_an_open_hour_are_settled_at_once(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2, 3)
    Profile.objects.update(stored_at=at(3.5))
    assert pack(project, 3.5) == 3


@pytest.mark.usefixtures("few")
def test_head_below_the_minimum_of_rows_is_not_compacted(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2)
    stored(shop, 1, 2, type=ProfileType.WALL)
    stored(rows.deployment(project, service="other"), 1, 2)
    assert find_pending_series(at(30), project.pk) == []
    assert pack(project, 30) == 0


@pytest.mark.usefixtures("few")
def test_level_0_block_lies_within_one_hour(project: Project, shop: Deployment) -> None:
    """Check that each block lies in one hour; an hour that has ended needs fewer rows."""
    stored(shop, 55, 57, 61, 62)
    assert pack(project, 59) == 0
    assert pack(project, 63) == 2
    stored(shop, 59.5, 65)
    Block.objects.update(created=rows.NOON)
    assert pack(project, 66) == 3
    found = Block.objects.order_by("start").values_list("start", "end", "profiles")
    assert list(found) == [
        (rows.NOON + 55 * MINUTE, rows.NOON + 58 * MINUTE, 2),
        (rows.NOON + 61 * MINUTE, rows.NOON + 66 * MINUTE, 3),
    ]
    assert Profile.objects.get().time == rows.NOON + 59.5 * MINUTE


@pytest.mark.usefixtures("few")
def test_next_level_0_block_waits_for_the_compaction_interval(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2, 3)
    pack(project, 4)
    stored(shop, 5, 6, 7)
    Block.objects.update(created=at(4))
    nearly = 4 + MIN_COMPACTION_INTERVAL / MINUTE - 0.1
    assert pack(project, nearly) == 0
    assert pack(project, nearly + 0.2) == 3
    assert Block.objects.filter(is_level0=True).count() == 2


@pytest.mark.usefixtures("few")
def test_head_over_the_maximum_of_rows_is_compacted_at_once(
    project: Project, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profiles.compaction.pending_series.MAX_WAITING_ROWS", 4)
    stored(shop, 1, 2, 3)
    pack(project, 4)
    Block.objects.update(created=at(4))
    stored(shop, 5, 6, 7)
    assert pack(project, 8.2) == 0
    stored(shop, 8)
    assert pack(project, 8.2) == 4


@pytest.mark.usefixtures("few")
def test_level_0_blocks_and_head_rows_of_a_closed_hour_become_one_block(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2, 3)
    pack(project, 4)
    stored(shop, 11, 12, 13)
    pack(project, 14)
    stored(shop, 30, 61)
    before = stock(project)
    closed = rows.NOON + HOUR + timedelta(minutes=10)
    assert Compactor(project.pk, closed - timedelta(seconds=1)).build_level1() == 0
    assert find_projects_with_hours(closed) == [project.pk]
    assert Compactor(project.pk, closed).build_level1() == 1
    block = Block.objects.get()
    assert (block.is_level0, block.profiles) == (False, 7)
    assert (block.start, block.end) == (rows.NOON, rows.NOON + HOUR)
    assert stock(project) == before
    assert counted_bytes(project) == really_stored_bytes(project)
    assert find_projects_with_hours(closed) == []


@pytest.mark.usefixtures("few")
def test_single_level_0_block_of_a_closed_hour_becomes_its_hour_block(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2, 3)
    pack(project, 4)
    made = Block.objects.get()
    closed = rows.NOON + 2 * HOUR
    assert Compactor(project.pk, closed).build_level1() == 0
    remaining = Block.objects.get()
    assert (remaining.pk, remaining.blob_id, remaining.is_level0) == (made.pk, made.blob_id, False)
    assert find_projects_with_hours(closed) == []


@pytest.mark.usefixtures("few")
def test_level_0_blocks_over_the_profile_limit_become_several_hour_blocks(
    project: Project, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        stored(shop, *(10 * number + i for i in range(3)))
        pack(project, 10 * number + 5)
    stored(shop, 51)
    before = stock(project)
    monkeypatch.setattr(plan, "MAX_PROFILES", 6)
    Compactor(project.pk, rows.NOON + 2 * HOUR).build_level1()
    assert sorted(Block.objects.values_list("profiles", flat=True)) == [4, 6, 6]
    assert not Block.objects.filter(is_level0=True).exists()
    assert stock(project) == before


@pytest.mark.usefixtures("few")
def test_damaged_level_0_block_is_quarantined_and_the_rest_is_compacted(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2, 3)
    pack(project, 4)
    damaged = Block.objects.get()
    Block.objects.update(length=damaged.length - 9)
    for number in (1, 2):
        stored(shop, *(10 * number + i for i in range(3)))
        pack(project, 10 * number + 5)
    stored(shop, 50)
    Compactor(project.pk, rows.NOON + 2 * HOUR).build_level1()
    found = Block.objects.order_by("quarantined", "profiles").values_list("quarantined", "profiles")
    assert (True, 3) in found
    assert sum(profiles for aside, profiles in found if not aside) == 7
    assert not Profile.objects.exists()
    assert find_projects_with_hours(rows.NOON + 2 * HOUR) == []


@pytest.mark.usefixtures("few")
def test_unreadable_level_0_block_waits_and_others_are_compacted(
    project: Project,
    shop: Deployment,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = rows.deployment(project, service="another")
    for of in (other, shop):
        stored(of, 1, 2, 3)
        pack(project, 4)
        stored(of, 5)
    before = stock(project)
    away = Block.objects.get(service="another").blob.key
    store = blobs()

    def get(key: str, offset: int = 0, length: int | None = None) -> bytes:
        if key == away:
            raise BlobUnavailable(f"Blob {key} does not answer.")
        return FileBlobs.get(store, key, offset, length)  # type: ignore[arg-type]

    closed = rows.NOON + 2 * HOUR
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(store, "get", get)
        assert Compactor(project.pk, closed).build_level1() == 1
    assert f"Blob {away} does not answer." in caplog.text
    assert [row.service for row in Profile.objects.all()] == ["another"]
    assert stock(project) == before
    assert find_projects_with_hours(closed) == [project.pk]
    assert Compactor(project.pk, closed).build_level1() == 1
    assert stock(project) == before
    assert not Block.objects.filter(quarantined=True).exists()


@pytest.mark.usefixtures("few")
def test_concurrent_level_0_compactions_store_rows_once(
    project: Project, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(shop, 1, 2, 3)
    before = stock(project)

    def beaten(project: int, replacements: Sequence[Replacement]) -> None:
        monkeypatch.setattr(compactor, "replace_sources", replace_sources)
        assert Compactor(project, at(4)).build_level0() == 3
        replace_sources(project, replacements)

    monkeypatch.setattr(compactor, "replace_sources", beaten)
    assert pack(project, 4) == 0
    assert stock(project) == before
    assert counted_bytes(project) == really_stored_bytes(project)


@pytest.mark.usefixtures("few")
def test_late_profile_of_a_closed_hour_makes_another_block(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2, 3)
    pack(project, 4)
    closed = rows.NOON + 2 * HOUR
    Compactor(project.pk, closed).build_level1()
    rows.stored(shop, minutes=2.5)
    Profile.objects.update(stored_at=closed)
    assert Compactor(project.pk, closed + 9 * MINUTE).build_level1() == 0
    assert Compactor(project.pk, closed + 11 * MINUTE).build_level1() == 1
    assert sorted(Block.objects.values_list("profiles", "is_level0")) == [(1, False), (3, False)]


@pytest.mark.usefixtures("few")
def test_expired_level_0_blocks_are_deleted(project: Project, shop: Deployment) -> None:
    stored(shop, 1, 2, 3)
    pack(project, 4)
    retention.retain(project.pk, rows.NOON + timedelta(days=60))
    assert not Block.objects.exists()
    assert counted_bytes(project) == 0


@pytest.mark.usefixtures("few")
def test_damaged_row_does_not_stop_the_compaction_of_level_0_blocks(
    project: Project, shop: Deployment
) -> None:
    stored(shop, 1, 2, 3)
    pack(project, 4)
    stored(shop, 5, 6)
    Profile.objects.filter(time=rows.NOON + 5 * MINUTE).update(tree=b"nothing")
    Compactor(project.pk, rows.NOON + 2 * HOUR).build_level1()
    assert Block.objects.get().profiles == 4
    assert Profile.objects.get().quarantined


@pytest.mark.usefixtures("few")
def test_level_0_blocks_that_a_day_covers_meanwhile_are_not_replaced(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(shop, 1, 2, 3)
    pack(project, 4)
    stored(shop, 5)
    before = stock(project)

    def beaten(project: int, replacements: Sequence[Replacement]) -> None:
        monkeypatch.setattr(compactor, "replace_sources", replace_sources)
        Block.objects.update(is_level0=False)  # as another worker leaves it
        assert Compactor(project, later).build_level2() == 1
        replace_sources(project, replacements)

    monkeypatch.setattr(compactor, "replace_sources", beaten)
    assert Compactor(project.pk, later).build_level1() == 0
    assert stock(project) == before
    selection = ProfileSelection(
        project.pk, "shop", ProfileType.CPU, rows.NOON - 24 * HOUR, rows.NOON + 24 * HOUR
    )
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 4
    assert Compactor(project.pk, later).build_level1() == 1
    assert stock(project) == before


@pytest.mark.slow
@settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 10**6), ticks=st.lists(st.integers(1, 50), min_size=3, max_size=8))
@pytest.mark.usefixtures("few")
def test_results_do_not_depend_on_the_times_of_compaction(
    seed: int, ticks: list[int], project: Project
) -> None:
    """Check that results do not depend on the times of compaction and arrival.

    `ticks` are minutes between compactions. Profiles arrive at any time, and some of them late.
    """
    chance = random.Random(seed)
    service = f"shop-{next(_numbers)}"
    shop = rows.deployment(project, service=service)
    now, count, total = rows.NOON, 0, 0

    def coverage(start: datetime, end: datetime) -> tuple[int, int]:
        selection = ProfileSelection(project.pk, service, ProfileType.CPU, start, end)
        found = run_tree(query_context(selection), selection, View()).coverage
        return found.profiles, found.total

    for tick in ticks:
        for _ in range(chance.randrange(9)):
            value = chance.randrange(1, 99)
            late = chance.randrange(chance.choice([90, 1500])) if chance.random() < 0.2 else 0
            minutes = (now - rows.NOON) / MINUTE - late + chance.random()
            rows.stored(shop, {"main;a": value, "main": 1}, minutes=minutes)
            count, total = count + 1, total + (value + 1) * 1000
        all_came_at_noon()
        now += tick * MINUTE
        Compactor(project.pk, now).build_level0()
        Compactor(project.pk, now).build_level1()
        first, last = rows.NOON - 26 * HOUR, now + HOUR
        assert coverage(first, last) == (count, total)
        middle = rows.NOON + timedelta(
            seconds=chance.choice([1, 12]) * chance.randrange(-3600, 7200)
        )
        halves = [coverage(first, middle), coverage(middle, last)]
        assert (sum(n for n, _ in halves), sum(n for _, n in halves)) == (count, total)
    Compactor(project.pk, now + 3 * HOUR).build_level1()
    assert not Block.objects.filter(service=service, is_level0=True).exists()
    assert coverage(rows.NOON - 26 * HOUR, now + HOUR) == (count, total)
    assert counted_bytes(project) == really_stored_bytes(project)
