"""Compaction of head rows of closed hours into hour blocks."""

from collections import Counter
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from profiles.compaction import build, compactor, plan
from profiles.compaction.compactor import Compactor
from profiles.compaction.plan import find_projects_with_hours
from profiles.engine.blocks import BlockProfile, build_hour
from profiles.models import Blob, Block, BlockLevel, DeduplicationKey, Profile, TimeSource
from profiles.storage.blob_store import get_location, read
from profiles.storage.insert import insert
from profiles.storage.windows import get_closed_hours_end
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes, stock

pytestmark = pytest.mark.django_db


def test_hour_is_closed_ten_minutes_after_its_end() -> None:
    at = rows.NOON + timedelta(hours=1, minutes=10)
    assert get_closed_hours_end(at) == rows.NOON + timedelta(hours=1)
    assert get_closed_hours_end(at - timedelta(seconds=1)) == rows.NOON


def test_profiles_move_from_the_head_into_a_block_an_hour(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for minute in (0, 59.9, 60, 61, 150):
        rows.stored(shop, minutes=minute)
    rows.stored(shop, type=ProfileType.WALL)
    rows.stored(rows.deployment(project, service="other"))
    before = stock(project)
    assert Compactor(project.pk, later).build_level1() == 7
    assert Profile.objects.count() == 0
    assert stock(project) == before
    found = Block.objects.order_by("service", "type", "start").values_list(
        "service", "type", "start", "profiles"
    )
    hour = timedelta(hours=1)
    assert list(found) == [
        ("other", "CPU", rows.NOON, 1),
        ("shop", "CPU", rows.NOON, 2),
        ("shop", "CPU", rows.NOON + hour, 2),
        ("shop", "CPU", rows.NOON + 2 * hour, 1),
        ("shop", "WALL", rows.NOON, 1),
    ]


def test_blocks_of_a_project_share_a_blob(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for minute in (0, 60, 120):
        rows.stored(shop, minutes=minute)
    Compactor(project.pk, later).build_level1()
    blob = Blob.objects.get()
    assert blob.key.startswith(f"projects/{project.pk}/")
    ranges = [(block.offset, block.length) for block in blob.blocks.order_by("offset")]
    assert [offset for offset, _ in ranges] == [0, ranges[0][1], ranges[0][1] + ranges[1][1]]
    assert sum(length for _, length in ranges) == blob.size


def test_a_full_blob_is_followed_by_another(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MAX_PROFILES", 2)
    monkeypatch.setattr(compactor, "MAX_ROWS", 4)
    for minute in range(9):
        rows.stored(shop, minutes=minute)
    before = stock(project)
    Compactor(project.pk, later).build_level1()
    assert [blob.blocks.count() for blob in Blob.objects.order_by("pk")] == [2, 2, 1]
    assert stock(project) == before


def test_rows_of_open_hours_and_new_rows_stay_in_the_head(
    project: Project, shop: Deployment
) -> None:
    rows.stored(shop)  # its hour ended long ago, but it has just arrived
    assert list(Compactor(project.pk, timezone.now()).plan(BlockLevel.LEVEL_1)) == []
    at = rows.NOON + timedelta(hours=1)
    Profile.objects.update(stored_at=rows.NOON)
    assert list(Compactor(project.pk, at).plan(BlockLevel.LEVEL_1)) == []
    closed = at + timedelta(minutes=10)
    assert len(list(Compactor(project.pk, closed).plan(BlockLevel.LEVEL_1))) == 1


def test_second_run_changes_nothing(project: Project, shop: Deployment, later: datetime) -> None:
    rows.stored(shop)
    Compactor(project.pk, later).build_level1()
    assert Compactor(project.pk, later).build_level1() == 0
    assert (Blob.objects.count(), Block.objects.count()) == (1, 1)


def test_late_profiles_make_another_block_of_the_hour(
    project: Project, shop: Deployment, later: datetime
) -> None:
    rows.stored(shop)
    Compactor(project.pk, later).build_level1()
    rows.stored(shop, minutes=1)
    before = stock(project)
    Compactor(project.pk, later).build_level1()
    assert Block.objects.filter(start=rows.NOON).count() == 2
    assert stock(project) == before


def test_another_projects_profiles_stay_where_they_are(
    project: Project, shop: Deployment, charlie: User, later: datetime
) -> None:
    theirs = create_project("Theirs", charlie)
    rows.stored(rows.deployment(theirs))
    rows.stored(shop)
    Compactor(project.pk, later).build_level1()
    assert Profile.objects.get().project == theirs
    assert find_projects_with_hours(later) == [theirs.pk]


def test_stored_bytes_of_the_project_are_updated(
    project: Project, shop: Deployment, later: datetime
) -> None:
    for minute in range(30):
        rows.stored(shop, minutes=minute * 10)
    assert counted_bytes(project) == really_stored_bytes(project)
    Compactor(project.pk, later).build_level1()
    assert counted_bytes(project) == really_stored_bytes(project) > 0


def test_summary_has_labels_times_and_weights_for_menus(
    project: Project, shop: Deployment, later: datetime
) -> None:
    other = rows.deployment(project, version="2")
    rows.stored(shop, {"main": 3}, labels={"instance": "a"}, minutes=1)
    rows.stored(shop, {"main": 5}, labels={"instance": "a"}, minutes=2)
    rows.stored(other, {"main": 7}, labels={"instance": "b"}, minutes=31)
    Compactor(project.pk, later).build_level1()
    summary = Block.objects.get().summary
    noon = int(rows.NOON.timestamp())
    minute = 60 * 10**6
    at = noon * 10**6
    assert summary["deployments"] == {
        str(shop.pk): [2, 8000, 20 * 10**9, at + minute, at + 2 * minute],
        str(other.pk): [1, 7000, 10 * 10**9, at + 31 * minute, at + 31 * minute],
    }
    assert summary["metrics"] == [["cpu", "nanoseconds", 3]]
    assert summary["labels"] == {"instance": {"a": 2, "b": 1}}
    assert summary["course"] == [[noon, 2, 8000], [noon + 1800, 1, 7000]]
    assert summary["weights"] == [3000, 7000]


def test_a_damaged_row_is_quarantined_and_the_rest_moves(
    project: Project, shop: Deployment, later: datetime
) -> None:
    names = [rows.stored(shop, minutes=minute).name_id for minute in range(4)]
    Profile.objects.filter(name_id=names[2]).update(tree=b"nothing")
    assert Compactor(project.pk, later).build_level1() == 3
    assert Profile.objects.get().quarantined
    assert list(Compactor(project.pk, later).plan(BlockLevel.LEVEL_1)) == []


def test_deduplication_keys_of_profiles_without_a_time_are_stored(
    project: Project, shop: Deployment, later: datetime
) -> None:
    rows.stored(shop)
    rows.stored(shop, name_id="timeless")
    Profile.objects.filter(name_id="timeless").update(time_source=TimeSource.ARRIVAL)
    Compactor(project.pk, later).build_level1()
    assert [key.name_id for key in DeduplicationKey.objects.all()] == ["timeless"]


def test_concurrent_level_1_compactions_store_rows_once(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a competing run finish while this one builds its block."""
    for minute in range(3):
        rows.stored(shop, minutes=minute)
    before = stock(project)

    def beaten(profiles: list[BlockProfile], parts: list[object], **_: int) -> bytes:
        assert not parts
        monkeypatch.setattr(build, "build_hour", build_hour)
        assert Compactor(project.pk, later).build_level1() == 3
        return build_hour(profiles)

    monkeypatch.setattr(build, "build_hour", beaten)
    assert Compactor(project.pk, later).build_level1() == 0
    assert stock(project) == before == Counter(before.keys())
    data = {block.pk: read(get_location(block)) for block in Block.objects.select_related("blob")}
    assert len(data) == 1


def test_profile_stored_during_a_compaction_stays_in_the_head(
    project: Project, shop: Deployment, later: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.stored(shop)
    late = rows.new(shop, minutes=5)

    def interrupted(profiles: list[BlockProfile], parts: list[object], **_: int) -> bytes:
        assert not parts
        insert([late])
        return build_hour(profiles)

    monkeypatch.setattr(build, "build_hour", interrupted)
    assert Compactor(project.pk, later).build_level1() == 1
    assert Profile.objects.get().name_id == late.name_id
