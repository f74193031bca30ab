"""The plan: from what the room is offered, at the projects' rates, into the room."""

import time

import pytest
from pytest_django import Settings

from projects import sync_pool
from projects.models import Project
from projects.profile_types import ProfileType
from scheduler import tasks
from scheduler.slots import Offer
from scheduler.tasks import coming_slots
from scheduler.waiting_room import room
from scheduler.waiting_room.interface import Assigned, Waiter
from tests.scheduler.project_rate import set_rate
from tests.scheduler.waits import held

CPU, WALL = ProfileType.CPU, ProfileType.WALL
OFFERS = [Offer(1, nth, frozenset({CPU, WALL}), 1) for nth in range(20)]
NOW = 1_800_000_023.0


def test_a_plan_run_twice_has_the_same_slots() -> None:
    assert coming_slots(OFFERS, {1: 1.5}, 60, NOW) == coming_slots(OFFERS, {1: 1.5}, 60, NOW)


def test_plans_a_minute_apart_leave_no_gap_and_agree_where_they_overlap() -> None:
    plans = [coming_slots(OFFERS, {1: 1.5}, 60, NOW + 60 * nth) for nth in range(10)]
    all_slots = {slot.id: slot for plan in plans for slot in plan}
    assert len({(slot.id, slot.moment) for plan in plans for slot in plan}) == len(all_slots)
    assert all(NOW <= slot.moment < NOW + 11 * 60 for slot in all_slots.values())
    # ten minutes and a half, 20 deployments, 2 types, 1.5 a minute: 630; six deviations are 60
    assert 560 < len(all_slots) < 700


def test_nothing_is_planned_for_the_past() -> None:
    assert all(slot.moment >= NOW for slot in coming_slots(OFFERS, {1: 5.0}, 60, NOW))


@pytest.mark.django_db(transaction=True)
async def test_a_waiting_agent_is_given_what_was_planned_at_its_projects_rate(
    project: Project, settings: Settings
) -> None:
    settings.PLAN_PERIOD_SECONDS = 0.5
    await set_rate(project, 20)
    await room().open()
    waiter = Waiter("a", project.pk, 1, frozenset({CPU}))
    (wait,) = await held(room(), waiter)
    started = time.time()
    await sync_pool.run(tasks.plan)
    answer = await wait
    assert isinstance(answer, Assigned)
    assert answer.slot.deployment == 1
    assert answer.slot.moment >= started
    await room().empty()


@pytest.mark.django_db(transaction=True)
async def test_a_project_whose_rate_is_zero_is_left_alone(project: Project) -> None:
    await set_rate(project, 0)
    await room().open()
    await room().wait(Waiter("a", project.pk, 1, frozenset({CPU})), 0.01)
    assert room().offers()
    assert await sync_pool.run(tasks.planned_now) == []
