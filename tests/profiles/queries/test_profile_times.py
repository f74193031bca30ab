"""Times of profiles: the calendar, the nearest profiles, and the first of each deployment."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.query import InvalidQuery, run_calendar, run_first_profiles, run_nearest
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from projects.project_ids import create_project
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
CPU = ProfileType.CPU


@pytest.fixture(params=["head", "blocks", "both"])
def stored(request: pytest.FixtureRequest, project: Project, charlie: User) -> Deployment:
    """Store profiles at 12:03, 12:50 and 15:10, in the head, in blocks, or in both."""
    shop = rows.deployment(project)
    rows.stored(rows.deployment(create_project("Theirs", charlie)), minutes=-60)
    rows.stored(rows.deployment(project, "other"), minutes=60)
    rows.stored(shop, minutes=120, type=ProfileType.WALL)
    for minutes in (3, 50):
        rows.stored(shop, minutes=minutes)
    if request.param == "both":
        compact(project)
    rows.stored(shop, minutes=190)
    if request.param == "blocks":
        compact(project)
    return shop


def compact(project: Project) -> None:
    Compactor(project.pk, timezone.now() + timedelta(days=1)).build_level1()


def at(minutes: float) -> datetime:
    return rows.NOON + timedelta(minutes=minutes)


def test_the_calendar_has_the_hours_with_profiles(project: Project, stored: Deployment) -> None:
    context, day = query_context(project.pk), (at(-720), at(720))
    assert run_calendar(context, "shop", CPU, *day) == [at(0), at(180)]
    assert run_calendar(context, "shop", None, *day) == [at(0), at(120), at(180)]
    assert run_calendar(context, "", None, *day) == [at(0), at(60), at(120), at(180)]
    assert run_calendar(context, "shop", CPU, at(60), at(180)) == []


def test_calendar_over_45_days_is_rejected(project: Project) -> None:
    with pytest.raises(InvalidQuery, match="45 days at most"):
        run_calendar(query_context(project.pk), "", None, at(0), at(0) + timedelta(days=46))


def test_the_nearest_profiles_are_found_on_both_sides(project: Project, stored: Deployment) -> None:
    context = query_context(project.pk)
    assert run_nearest(context, "shop", CPU, at(60), at(180)) == (at(50), at(190))
    assert run_nearest(context, "shop", CPU, at(-60), at(0)) == (None, at(3))
    assert run_nearest(context, "shop", CPU, at(200), at(260)) == (at(190), None)
    assert run_nearest(context, "shop", ProfileType.HEAP, at(0), at(60)) == (None, None)


def test_nearest_profile_may_be_inside_a_block_that_crosses_the_range(
    project: Project, stored: Deployment
) -> None:
    before, after = run_nearest(query_context(project.pk), "shop", CPU, at(40), at(45))
    assert (before, after) == (at(3), at(50))


def test_the_first_profile_of_each_deployment_is_exact(
    project: Project, stored: Deployment
) -> None:
    other = rows.deployment(project, version="2")
    rows.stored(other, minutes=17)
    context = query_context(project.pk)
    with count_queries() as queries:
        firsts = run_first_profiles(context, "shop", CPU)
    assert firsts == {stored.pk: at(3), other.pk: at(17)}
    assert len(queries) == 1
