"""Planning task, from the offers in the queue and the projects' rates to capture requests."""

import time

import pytest
from pytest_django import Settings

from common import database_pool
from projects.models import Project
from projects.profile_types import ProfileType
from scheduler import tasks
from scheduler.capture_requests import CaptureTarget
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.interface import Assignment, Waiter
from scheduler.tasks import upcoming_requests
from tests.scheduler.long_poll.parking import park
from tests.scheduler.project_rate import set_rate

CPU, WALL = ProfileType.CPU, ProfileType.WALL
OFFERS = [CaptureTarget(1, nth, frozenset({CPU, WALL}), 1) for nth in range(20)]
NOW = 1_800_000_023.0  # 23 s after a period begins


def test_a_plan_run_twice_has_the_same_requests() -> None:
    assert upcoming_requests(OFFERS, {1: 1.5}, 60, NOW) == upcoming_requests(
        OFFERS, {1: 1.5}, 60, NOW
    )


def test_plans_a_minute_apart_leave_no_gap_and_agree_where_they_overlap() -> None:
    plans = [upcoming_requests(OFFERS, {1: 1.5}, 60, NOW + 60 * nth) for nth in range(10)]
    all_requests = {request.id: request for plan in plans for request in plan}
    # Requests with equal ids have equal times.
    assert len({(request.id, request.scheduled) for plan in plans for request in plan}) == len(
        all_requests
    )
    assert all(NOW <= request.scheduled < NOW + 11 * 60 for request in all_requests.values())
    # 10.5 minutes (the last plan is made after 9 and reaches 1.5 ahead), 20 deployments, 2 types,
    # 1.5 a minute: 630; six standard deviations are 60.
    assert 560 < len(all_requests) < 700


def test_nothing_is_planned_for_the_past() -> None:
    assert all(request.scheduled >= NOW for request in upcoming_requests(OFFERS, {1: 5.0}, 60, NOW))


@pytest.mark.django_db(transaction=True)
async def test_a_parked_agent_gets_requests_at_its_projects_rate(
    project: Project, settings: Settings
) -> None:
    settings.PLAN_PERIOD_SECONDS = 0.5
    await set_rate(project, 20)
    await queue_of_process().open()
    waiter = Waiter("a", project.pk, 1, frozenset({CPU}))
    (wait,) = await park(queue_of_process(), waiter)
    started = time.time()
    await database_pool.run(tasks.plan)
    response = await wait
    assert isinstance(response, Assignment)
    assert response.request.deployment == 1
    assert response.request.scheduled >= started
    await queue_of_process().close()


@pytest.mark.django_db(transaction=True)
async def test_a_project_with_rate_zero_gets_no_requests(project: Project) -> None:
    await set_rate(project, 0)
    await queue_of_process().open()
    await queue_of_process().wait(Waiter("a", project.pk, 1, frozenset({CPU})), 0.01)
    assert queue_of_process().targets()
    assert await database_pool.run(tasks.plan_now) == []
