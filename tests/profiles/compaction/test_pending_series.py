"""Series with head rows ready for compaction: found quickly, and no others found."""

from collections.abc import Sequence

import pytest
from django.db import connection
from django.utils import timezone

from profiles import tasks
from profiles.compaction.pending_series import find_pending_series
from profiles.compaction.plan import find_projects_with_hours, pending_level0_blocks
from profiles.models import Block, Profile
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.compaction.long_heads import HOUR, MINUTE, at, stored
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="about how SQLite does it")


@pytest.mark.usefixtures("few")
def test_only_series_with_enough_rows_or_closed_hours_are_pending(
    project: Project, shop: Deployment, charlie: User
) -> None:
    theirs = create_project("Theirs", charlie)
    stored(rows.deployment(theirs, service="long"), 1, 2, 3)
    stored(rows.deployment(theirs, service="short"), 1, 2)
    stored(shop, 61, 62)
    stored(shop, 1, type=ProfileType.WALL)
    now = rows.NOON + 72 * MINUTE
    assert [each[1:] for each in find_pending_series(rows.NOON + 30 * MINUTE)] == [
        ("long", "CPU", False, True, False)
    ]
    assert [each[1:] for each in find_pending_series(now, theirs.pk)] == [
        ("long", "CPU", True, True, True),
        ("short", "CPU", True, False, True),
    ]
    assert [each[1:] for each in find_pending_series(now, project.pk)] == [
        ("shop", "WALL", True, False, False)
    ]
    assert find_projects_with_hours(now) == [project.pk, theirs.pk]


def test_quarantined_rows_are_not_pending(project: Project, shop: Deployment) -> None:
    stored(shop, 1)
    Profile.objects.update(quarantined=True)
    assert find_pending_series(rows.NOON + 3 * HOUR) == []


def test_without_pending_series_the_search_takes_two_statements(
    project: Project, shop: Deployment
) -> None:
    for number in range(20):
        stored(rows.deployment(project, service=f"service-{number}"), 1)
    with count_queries() as statements:
        assert find_projects_with_hours(at(1)) == []
    assert len(statements) == 2


def test_rollup_of_a_project_searches_pending_series_once(
    project: Project, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: rows.NOON + 3 * HOUR)
    stored(shop, 1)
    with count_queries() as statements:
        tasks.roll_up_project(project.pk)
    assert sum("series(id)" in statement for statement in statements) == 1
    assert [block.level for block in Block.objects.all()] == [1]


@on_sqlite
def test_pending_series_are_found_without_reading_every_row(
    project: Project, shop: Deployment
) -> None:
    def steps() -> int:
        done = 0

        def step() -> int:
            nonlocal done
            done += 1
            return 0

        connection.connection.set_progress_handler(step, 10)
        try:
            assert find_pending_series(at(0), project.pk) == find_pending_series(at(0)) == []
        finally:
            connection.connection.set_progress_handler(None, 0)
        return done

    def add(number: int, minutes: Sequence[int]) -> None:
        rows.stored(rows.deployment(project, service=f"service-{number}"))
        newest = Profile.objects.latest("pk")
        for minute in minutes:
            newest.pk, newest.name_id = None, f"{number}-{minute}"
            newest.time = rows.NOON + minute * MINUTE
            newest.save(force_insert=True)

    for number in range(30):
        add(number, range(1))
    few = steps()
    for number in range(30):
        add(number, range(1, 60))
    assert steps() < 2 * few


@on_sqlite
def test_pending_level_0_blocks_are_found_by_their_index() -> None:
    assert "block_part" in pending_level0_blocks(rows.NOON).explain()
