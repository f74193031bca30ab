"""Late profiles, of hours that are closed when they arrive: level-0 blocks of several hours."""

from datetime import datetime, timedelta

import pytest

from profiles.compaction import plan
from profiles.compaction.compactor import Compactor
from profiles.compaction.pending_series import MIN_ROWS_ENDED_HOUR
from profiles.compaction.plan import find_projects_with_hours
from profiles.models import Block, Profile
from profiles.query import ProfileSelection, View, run_tree
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes, stock
from tests.profiles.compaction.long_heads import HOUR, MINUTE, all_came_at, stored
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db
LATER = rows.NOON + 30 * HOUR  # all hours of the tests are closed


def imported(project: Project, of: Deployment, *hours: float, now: datetime = LATER) -> int:
    """Store a profile at each of these hours after noon, compact at `now`; return the number."""
    stored(of, *(60 * hour for hour in hours))
    all_came_at(now)
    moved = Compactor(project.pk, now).build_level0()
    Block.objects.filter(created__gt=now).update(created=now)
    return moved


def blocks() -> list[tuple[float, float, int, bool]]:
    """Return each block as (start, end, profiles, is_level0), in hours after noon."""
    found = Block.objects.order_by("start", "pk")
    return [
        ((row.start - rows.NOON) / HOUR, (row.end - rows.NOON) / HOUR, row.profiles, row.is_level0)
        for row in found
    ]


def test_few_profiles_an_hour_become_one_block_for_each_day(
    project: Project, shop: Deployment
) -> None:
    stored(shop, *(60 * hour + 1 for hour in range(MIN_ROWS_ENDED_HOUR + 4)))
    all_came_at(LATER)
    before = stock(project)
    assert Compactor(project.pk, LATER).build_level0() == MIN_ROWS_ENDED_HOUR + 4
    assert [(profiles, is_level0) for _, _, profiles, is_level0 in blocks()] == [
        (12, True),
        (8, True),
    ]
    midnight = rows.NOON + 12 * HOUR
    assert list(Block.objects.order_by("start").values_list("start", "end")) == [
        (rows.NOON + MINUTE, midnight - 58 * MINUTE),
        (midnight + MINUTE, midnight + 7 * HOUR + 2 * MINUTE),
    ]
    assert stock(project) == before


def test_fewer_late_profiles_than_a_block_needs_stay_rows(
    project: Project, shop: Deployment
) -> None:
    assert imported(project, shop, *range(MIN_ROWS_ENDED_HOUR - 1)) == 0
    assert imported(project, shop, 0.5) == MIN_ROWS_ENDED_HOUR


@pytest.mark.usefixtures("few")
def test_hours_share_a_block_up_to_a_number_of_profiles(
    project: Project, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MAX_SHARED_PROFILES", 4)
    imported(project, shop, 0, 0.5, 1, 2, 3, 3.1, 3.2, 3.3, 3.4, 4)
    assert [profiles for _, _, profiles, _ in blocks()] == [4, 5, 1]


@pytest.mark.usefixtures("few")
def test_a_query_of_any_range_counts_each_profile_once(project: Project, shop: Deployment) -> None:
    assert imported(project, shop, *(hour / 2 for hour in range(20))) == 20
    assert [profiles for _, _, profiles, _ in blocks()] == [20]

    def count(start: float, end: float) -> int:
        selection = ProfileSelection(
            project.pk, "shop", ProfileType.CPU, rows.NOON + start * HOUR, rows.NOON + end * HOUR
        )
        return run_tree(query_context(selection), selection, View()).coverage.profiles

    assert [count(-24, 24), count(2, 4), count(-24, 5), count(5, 24)] == [20, 4, 10, 10]


@pytest.mark.usefixtures("few")
def test_hours_become_one_block_once_no_more_profiles_arrive(
    project: Project, shop: Deployment
) -> None:
    """Check an import in two parts, of which single profiles stay rows."""
    assert imported(project, shop, 0, 1, 5) == 3
    assert imported(project, shop, 2, 6.5, now=LATER + MINUTE) == 2
    assert imported(project, shop, 3, now=LATER + MINUTE) == 0
    all_came_at(LATER)
    before = stock(project)
    Compactor(project.pk, LATER + 10 * MINUTE).build_level1()
    assert [is_level0 for *_, is_level0 in blocks()] == [True, True]
    assert find_projects_with_hours(LATER + 11 * MINUTE) == [project.pk]
    assert Compactor(project.pk, LATER + 11 * MINUTE).build_level1() == 1
    assert blocks() == [(0, 7, 6, False)]
    assert not Profile.objects.exists()
    assert stock(project) == before
    assert counted_bytes(project) == really_stored_bytes(project)
    assert find_projects_with_hours(LATER + 11 * MINUTE) == []


@pytest.mark.usefixtures("few")
def test_rows_between_level_0_blocks_become_hour_blocks(project: Project, shop: Deployment) -> None:
    assert imported(project, shop, 0, 1) == 2
    assert imported(project, shop, 5, 6) == 2
    assert imported(project, shop, 3) == 0
    Profile.objects.update(stored_at=rows.NOON)
    assert Compactor(project.pk, LATER + 10 * MINUTE).build_level1() == 1
    assert [(start // 1, profiles) for start, _, profiles, _ in blocks()] == [
        (0, 2),
        (3, 1),
        (5, 2),
    ]
    assert not Block.objects.filter(is_level0=True).exists()


@pytest.mark.usefixtures("few")
def test_hours_with_late_profiles_become_one_block_after_an_hour_at_the_latest(
    project: Project, shop: Deployment
) -> None:
    assert imported(project, shop, 0, 1) == 2
    assert imported(project, shop, 0.5, 1.5, now=LATER + 61 * MINUTE) == 2
    Compactor(project.pk, LATER + 61 * MINUTE).build_level1()
    assert blocks() == [(0, 2, 4, False)]


@pytest.mark.usefixtures("few")
def test_blocks_of_two_services_stay_apart(project: Project, shop: Deployment) -> None:
    other = rows.deployment(project, service="other")
    imported(project, shop, 0, 1)
    imported(project, other, 0, 1)
    Compactor(project.pk, LATER + 11 * MINUTE).build_level1()
    found = Block.objects.order_by("service").values_list("service", "profiles", "is_level0")
    assert list(found) == [("other", 2, False), ("shop", 2, False)]


@pytest.mark.usefixtures("few")
def test_profiles_of_the_open_hour_wait_for_more(project: Project, shop: Deployment) -> None:
    now = rows.NOON + 3 * HOUR + timedelta(minutes=30)
    assert imported(project, shop, 0, 1, 3, 3.1, now=now) == 2
    assert [row.time for row in Profile.objects.order_by("time")] == [
        rows.NOON + 3 * HOUR,
        rows.NOON + 3.1 * HOUR,
    ]
