"""Sparklines of many services in one query."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from profiles.compaction.compactor import Compactor
from profiles.models import Profile
from profiles.query import run_services, run_sparklines
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db
CPU = ProfileType.CPU
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_each_step_is_the_mean_of_its_profiles(shop: Deployment) -> None:
    rows.stored(shop, {"main": [2000]}, minutes=0)
    rows.stored(shop, {"main": [4000]}, minutes=14)
    rows.stored(shop, {"main": [9000]}, minutes=45)
    line = run_sparklines(
        query_context(shop.project_id), {"shop": CPU}, rows.NOON, rows.NOON + HOUR, 4
    )["shop"]
    assert line.steps == (3_000_000, None, None, 9_000_000)
    assert (line.profiles, line.weight) == (3, 15_000_000)
    assert line.duration_ns == 3 * 10 * 10**9


@pytest.mark.parametrize("span", [HOUR, DAY, 7 * DAY, 30 * DAY])
def test_a_profile_falls_into_its_step_whatever_the_range(
    shop: Deployment, span: timedelta
) -> None:
    rows.stored(shop, minutes=span.total_seconds() / 60 * 5 / 8)
    line = run_sparklines(
        query_context(shop.project_id), {"shop": CPU}, rows.NOON, rows.NOON + span, 4
    )["shop"]
    assert [step is not None for step in line.steps] == [False, False, True, False]


def test_the_ends_of_the_range_are_exact(shop: Deployment) -> None:
    for minutes in (-1, 0.5, 59.9, 60):
        rows.stored(shop, minutes=minutes)
    line = run_sparklines(
        query_context(shop.project_id), {"shop": CPU}, rows.NOON, rows.NOON + HOUR
    )["shop"]
    assert line.profiles == 2


def test_a_closed_hour_has_no_gaps_and_counts_what_is_inside(shop: Deployment) -> None:
    """Check steps of 2.5 minutes, half the resolution that a block's row stores."""
    for minute in range(60):
        rows.stored(shop, {"main": [1000]}, minutes=minute)
    Compactor(shop.project_id, max(rows.NOON, timezone.now()) + DAY).build_level1()
    assert not Profile.objects.exists()
    start = rows.NOON + timedelta(minutes=18)
    line = run_sparklines(query_context(shop.project_id), {"shop": CPU}, start, start + HOUR, 24)[
        "shop"
    ]
    assert [step is not None for step in line.steps] == 17 * [True] + 7 * [False]
    assert line.profiles == pytest.approx(42)
    assert line.weight == pytest.approx(42_000_000)
    assert line.duration_ns == pytest.approx(42 * 10**10)
    assert [
        row.profiles
        for row in run_services(query_context(shop.project_id), start, start + HOUR).rows
    ] == [42]


def test_all_services_take_two_queries(
    project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    expected = {}
    for number in range(20):
        name = f"service-{number}"
        expected[name] = CPU if number % 2 else ProfileType.WALL
        rows.stored(rows.deployment(project, name), type=expected[name])
    with django_assert_num_queries(2):
        lines = run_sparklines(query_context(project.pk), expected, rows.NOON, rows.NOON + DAY)
    assert set(lines) == set(expected)


def test_other_types_and_projects_are_left_out(shop: Deployment, charlie: User) -> None:
    theirs = create_project("Other shop", charlie)
    rows.stored(rows.deployment(theirs))
    rows.stored(shop, type=ProfileType.WALL)
    assert (
        run_sparklines(query_context(shop.project_id), {"shop": CPU}, rows.NOON, rows.NOON + HOUR)
        == {}
    )
    assert run_sparklines(query_context(shop.project_id), {}, rows.NOON, rows.NOON + HOUR) == {}
