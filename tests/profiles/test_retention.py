"""Retention: deletion of data older than a project's number of days."""

from datetime import datetime, timedelta

import pytest

from profiles import retention
from profiles.compaction.compactor import Compactor
from profiles.models import Block, Profile, Resolution
from profiles.query import ProfileSelection, View, run_profiles, run_tree
from projects.models import Agent, Deployment, Project, Quota
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.compaction.inventory import counted_bytes, really_stored_bytes
from tests.profiles.compaction.unlimited_retention import sum_days
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db
RETENTION = timedelta(days=30)


@pytest.fixture
def shop(project: Project) -> Deployment:
    return rows.deployment(project)


def left(project: Project) -> set[str]:
    ever = (rows.NOON - RETENTION, rows.NOON + RETENTION)
    return {
        row.name_id
        for row in run_profiles(
            query_context(ProfileSelection(project.pk, "shop", CPU, *ever)),
            ProfileSelection(project.pk, "shop", CPU, *ever),
        ).rows
    }


CPU = ProfileType.CPU


def roll_up(project: Project) -> None:
    later = rows.days_later(4)
    Compactor(project.pk, later).build_level1()
    sum_days(project.pk, later)


def at(hours: float) -> datetime:
    """Return the time at which the retention limit is `hours` after noon."""
    return rows.NOON + timedelta(hours=hours) + RETENTION


def test_expired_head_rows_are_deleted(project: Project, shop: Deployment) -> None:
    for hour in range(4):
        rows.stored(shop, minutes=60 * hour, name_id=str(hour))
    retention.retain(project.pk, at(2.9))
    assert left(project) == {"2", "3"}
    assert counted_bytes(project) == really_stored_bytes(project)


def test_retention_of_the_project_applies(project: Project, shop: Deployment) -> None:
    Quota.objects.create(project=project, retention_days=2)
    rows.stored(shop)
    retention.retain(project.pk, rows.NOON + timedelta(days=1))
    assert Profile.objects.exists()
    retention.retain(project.pk, rows.NOON + timedelta(days=3))
    assert not Profile.objects.exists()


def test_expired_blocks_are_deleted(project: Project, shop: Deployment) -> None:
    rows.stored(shop, minutes=0, name_id="old")
    rows.stored(shop, minutes=60 * 48, name_id="new")
    roll_up(project)
    assert Block.objects.count() == 4
    retention.retain(project.pk, at(24))
    assert left(project) == {"new"}
    assert Block.objects.count() == 2


def test_day_block_at_the_limit_is_replaced_by_its_hour_blocks_which_are_cut(
    project: Project, shop: Deployment
) -> None:
    """Check a block of eleven hours of which the limit leaves four."""
    for hour in range(11):
        rows.stored(shop, minutes=60 * hour, name_id=str(hour))
    roll_up(project)
    assert [block.level for block in Block.objects.order_by("pk")] == [1, 2]
    retention.retain(project.pk, at(3))
    assert [block.level for block in Block.objects.all()] == [1]
    assert len(left(project)) == 11  # too little to delete yet
    retention.retain(project.pk, at(7))
    assert left(project) == {"7", "8", "9", "10"}
    assert Block.objects.get().start == rows.NOON + timedelta(hours=7)
    selection = ProfileSelection(project.pk, "shop", CPU, rows.NOON, rows.NOON + RETENTION)
    assert run_tree(query_context(selection), selection, View()).coverage.profiles == 4
    assert counted_bytes(project) == really_stored_bytes(project)


def test_deployments_without_profiles_are_deleted_with_their_agents(
    project: Project, shop: Deployment
) -> None:
    seen = {"first_seen": rows.NOON, "last_seen": rows.NOON}
    Agent.objects.create(deployment=shop, identity="a", **seen)
    other = rows.deployment(project, version="2")
    rows.stored(other, minutes=60 * 24 * 3)  # arrives late, and keeps its deployment
    retention.retain(project.pk, at(20))
    assert Deployment.objects.count() == 2
    retention.retain(project.pk, at(50))
    assert list(Deployment.objects.all()) == [other]
    assert not Agent.objects.exists()
    roll_up(project)
    retention.retain(project.pk, at(51))
    assert list(Deployment.objects.all()) == [other]
    assert Block.objects.filter(resolution=Resolution.PROFILE).exists()
    retention.retain(project.pk, at(100))
    assert not Deployment.objects.exists()
