"""First profiles of new deployments, requested at once."""

import pytest

from projects.models import Project
from projects.profile_types import ProfileType
from scheduler import first_profile, rates
from scheduler.capture_requests import CaptureRequest, RequestOrigin
from scheduler.first_profile import first_requests
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.long_poll.interface import Assignment, BackOff, Waiter
from tests.scheduler.project_rate import set_rate
from tests.scheduler.virtual_time import clock, run

CPU, WALL, HEAP, THREADS = (
    ProfileType.CPU,
    ProfileType.WALL,
    ProfileType.HEAP,
    ProfileType.THREADS,
)


def requests_for(*types: ProfileType) -> list[CaptureRequest]:
    return first_requests(1, 2, types, now=1000.0)


def test_cpu_comes_first_then_instantaneous_types_then_the_rest() -> None:
    assert [request.type for request in requests_for(WALL, THREADS, HEAP, CPU)] == [
        CPU,
        HEAP,
        THREADS,
        WALL,
    ]


def test_first_requests_of_types_are_3_seconds_apart() -> None:
    assert [request.scheduled for request in requests_for(WALL, THREADS, CPU)] == [1000, 1003, 1006]


def test_the_requests_name_their_deployment_and_origin() -> None:
    (request,) = requests_for(CPU)
    assert (request.project, request.deployment, request.origin) == (1, 2, RequestOrigin.FIRST)


def test_peak_heap_is_not_requested() -> None:
    assert requests_for(ProfileType.PEAK_HEAP) == []


def test_a_lone_agent_gets_one_request_of_each_type() -> None:
    async def all_types() -> list[ProfileType]:
        queue = InProcessQueue(32, 10.0, clock=clock)
        got: list[ProfileType] = []
        for _ in range(8):
            queue.add_requests(first_requests(1, 2, {CPU, WALL, THREADS}, clock()))
            response = await queue.wait(Waiter("a", 1, 2, frozenset({CPU, WALL, THREADS})), 20.0)
            got += [response.request.type] if isinstance(response, Assignment) else []
        return got

    assert run(all_types()) == [CPU, THREADS, WALL]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("rate", "outcome"), [(1.0, Assignment), (0.0, BackOff)])
async def test_a_stopped_project_gets_no_first_request(
    project: Project, rate: float, outcome: type
) -> None:
    await set_rate(project, rate)
    rates.forget(project.pk)
    await first_profile.request_first_profiles(queue_of_process(), project.pk, 2, {CPU})
    response = await queue_of_process().wait(Waiter("a", project.pk, 2, frozenset({CPU})), 0.1)
    assert isinstance(response, outcome)
