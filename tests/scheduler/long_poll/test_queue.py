"""Contract of the long-poll queue, tested on both implementations."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from projects.profile_types import ProfileType
from scheduler.capture_requests import EXPIRY_SECONDS, CaptureRequest, RequestOrigin
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.long_poll.interface import (
    AgentActivity,
    Assignment,
    BackOff,
    CaptureTarget,
    LongPollQueue,
    Waiter,
)
from scheduler.long_poll.redis import RedisQueue
from tests.scheduler.long_poll.parking import claimed, park, until

pytestmark = pytest.mark.real

CPU, WALL, HEAP = ProfileType.CPU, ProfileType.WALL, ProfileType.HEAP
MAX_PARKED = 3
LONG, SHORT = 90.0, 0.1  # seconds
CAPTURE = 0.3


@pytest.fixture(params=["in process", "redis"])
def make_queue(request: pytest.FixtureRequest) -> Callable[[float], LongPollQueue]:
    """Return a factory of queues whose captures take `capture` seconds."""

    def make(capture: float) -> LongPollQueue:
        if request.param == "redis":
            return RedisQueue(request.getfixturevalue("redis_url"), MAX_PARKED, capture)
        return InProcessQueue(MAX_PARKED, capture)

    return make


@pytest.fixture
async def queue(make_queue: Callable[[float], LongPollQueue]) -> AsyncIterator[LongPollQueue]:
    made = make_queue(CAPTURE)
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def slow_queue(make_queue: Callable[[float], LongPollQueue]) -> AsyncIterator[LongPollQueue]:
    """Yield a queue whose captures take longer than any test."""
    made = make_queue(LONG)
    await made.open()
    yield made
    await made.close()


def agent(name: str = "a", *types: ProfileType, deployment: int = 1) -> Waiter:
    return Waiter(name, project=9, deployment=deployment, types=frozenset(types or {CPU}))


def capture_request(
    name: str = "s",
    kind: ProfileType = CPU,
    at: float = 0.0,
    *,
    deployment: int = 1,
    **more: RequestOrigin,
) -> CaptureRequest:
    """Return a capture request whose time is `at` seconds from now."""
    return CaptureRequest(name, 9, deployment, kind, time.time() + at, **more)


async def test_a_parked_agent_gets_the_request_at_its_time(queue: LongPollQueue) -> None:
    (wait,) = await park(queue, agent())
    request = capture_request(at=0.2)
    queue.add_requests([request])
    assert await wait == Assignment(request)
    assert time.time() >= request.scheduled
    assert queue.counts().claimed == 1


async def test_without_a_request_an_agent_backs_off_at_its_poll_timeout(
    queue: LongPollQueue,
) -> None:
    response = await queue.wait(agent(), SHORT)
    assert isinstance(response, BackOff)
    assert response.retry_after <= SHORT / 10, "there is queue: it may come back at once"
    assert queue.counts().waiting == 0


async def test_activities_tell_parked_from_idle_agents(queue: LongPollQueue) -> None:
    idle = AgentActivity(waiting=False, capturing_for=0.0)
    await park(queue, agent("a"), agent("b", deployment=2))
    page = [(1, "a"), (1, "b"), (2, "b"), (3, "a")]
    doing = await asyncio.to_thread(queue.activities, page)
    assert doing == [AgentActivity(True, 0.0), idle, AgentActivity(True, 0.0), idle]


async def test_activity_of_a_capturing_agent_has_its_remaining_seconds(
    slow_queue: LongPollQueue,
) -> None:
    (wait,) = await park(slow_queue, agent("a"))
    slow_queue.add_requests([capture_request()])
    await claimed(wait)
    (doing,) = await asyncio.to_thread(slow_queue.activities, [(1, "a")])
    assert not doing.waiting
    assert 0 < doing.capturing_for <= LONG * 1.1 + 0.001, "Redis has whole milliseconds, rounded up"


async def test_a_request_is_claimed_by_one_agent_only(queue: LongPollQueue) -> None:
    waits = await park(queue, agent("a"), agent("b"), agent("c"))
    queue.add_requests([capture_request()])
    done, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    assert (len(done), len(left)) == (1, 2)
    assert queue.counts().waiting == 2


async def test_requests_go_to_different_agents(queue: LongPollQueue) -> None:
    waits = await park(queue, agent("a"), agent("b"), agent("c"))
    queue.add_requests([capture_request("1"), capture_request("2"), capture_request("3")])
    assert {await claimed(wait) for wait in waits} == {"1", "2", "3"}


async def test_a_type_is_requested_only_from_agents_that_offer_it(queue: LongPollQueue) -> None:
    _, wall = await park(queue, agent("a", CPU), agent("b", WALL))
    queue.add_requests([capture_request("wall", WALL)])
    assert await claimed(wall) == "wall"
    assert queue.counts().waiting == 1


async def test_a_request_stays_in_its_deployment(queue: LongPollQueue) -> None:
    other, own = await park(queue, agent(deployment=1), agent(deployment=2))
    queue.add_requests([capture_request(deployment=2)])
    assert await claimed(own) == "s"
    assert not other.done()


async def test_if_no_agent_is_parked_the_first_to_arrive_gets_it(queue: LongPollQueue) -> None:
    queue.add_requests([capture_request(at=-EXPIRY_SECONDS / 2)])
    response = await queue.wait(agent(), LONG)
    assert isinstance(response, Assignment)
    assert isinstance(await queue.wait(agent("b"), SHORT), BackOff)


async def test_a_request_expires_60_s_after_its_time_and_is_counted(queue: LongPollQueue) -> None:
    queue.add_requests([capture_request(at=-EXPIRY_SECONDS + 0.2)])
    await until(lambda: queue.counts().expired == 1)
    assert isinstance(await queue.wait(agent(), SHORT), BackOff)
    assert queue.counts().claimed == 0


async def test_a_request_is_not_added_twice(queue: LongPollQueue) -> None:
    (first,) = await park(queue, agent("a"))
    queue.add_requests([capture_request("same"), capture_request("same")])
    assert await claimed(first) == "same"
    queue.add_requests([capture_request("same")])
    assert isinstance(await queue.wait(agent("b"), SHORT), BackOff)


async def test_request_of_a_user_is_claimed_first(queue: LongPollQueue) -> None:
    queue.add_requests(
        [
            capture_request("plan", at=-5),
            capture_request("person", WALL, at=-1, origin=RequestOrigin.PERSON),
        ]
    )
    await until(lambda: queue.count_user_requests(1, WALL) == 1)
    response = await queue.wait(agent("a", CPU, WALL), LONG)
    assert isinstance(response, Assignment)
    assert response.request.id == "person"
    assert queue.count_user_requests(1, WALL) == 0


async def test_an_agent_captures_one_profile_at_a_time(queue: LongPollQueue) -> None:
    (wait,) = await park(queue, agent())
    started = time.time()
    queue.add_requests([capture_request("first")])
    assert await claimed(wait) == "first"
    (again,) = await park(queue, agent())
    queue.add_requests([capture_request("second")])
    assert await claimed(again) == "second"
    assert time.time() - started >= CAPTURE


async def test_an_instantaneous_type_makes_an_agent_busy_briefly(
    make_queue: Callable[[float], LongPollQueue],
) -> None:
    capture = 5.0
    queue = make_queue(capture)
    await queue.open()
    (wait,) = await park(queue, agent("a", HEAP))
    queue.add_requests([capture_request("first", HEAP)])
    await wait
    started = time.time()
    queue.add_requests([capture_request("second", HEAP)])
    assert isinstance(await queue.wait(agent("a", HEAP), LONG), Assignment)
    assert time.time() - started < capture
    await queue.close()


async def test_while_one_captures_another_gets_the_request(slow_queue: LongPollQueue) -> None:
    queue = slow_queue
    (wait,) = await park(queue, agent("a"))
    queue.add_requests([capture_request("first")])
    await wait
    _, other = await park(queue, agent("a"), agent("b"))
    queue.add_requests([capture_request("second")])
    assert await claimed(other) == "second"


async def test_a_full_deployment_backs_off_the_next_and_later_ones_for_longer(
    queue: LongPollQueue,
) -> None:
    await park(queue, *(agent(f"parked-{nth}") for nth in range(MAX_PARKED)))
    responses = [await queue.wait(agent(f"late-{nth}"), LONG) for nth in range(50)]
    delays = [response.retry_after for response in responses if isinstance(response, BackOff)]
    assert len(delays) == 50
    assert delays[0] >= 0.9 * LONG / 2
    assert delays[-1] > 5 * delays[0]
    assert queue.counts().waiting == MAX_PARKED


async def test_a_full_deployment_does_not_limit_others(queue: LongPollQueue) -> None:
    await park(queue, *(agent(f"parked-{nth}") for nth in range(MAX_PARKED)))
    await park(queue, agent(deployment=2))


def of_project(quota: int, name: str, *types: ProfileType, deployment: int = 1) -> Waiter:
    """Return an agent of a project that may have `quota` parked handshakes."""
    return replace(agent(name, *types, deployment=deployment), project_quota=quota)


async def test_a_project_over_its_quota_backs_off_at_once_and_parked_agents_stay(
    queue: LongPollQueue,
) -> None:
    waits = await park(queue, *(of_project(2, f"parked-{n}", deployment=n) for n in range(2)))
    responses = [
        await queue.wait(of_project(2, f"late-{n}", deployment=n), LONG) for n in range(50)
    ]
    delays = [response.retry_after for response in responses if isinstance(response, BackOff)]
    assert len(delays) == 50
    assert all(isinstance(response, BackOff) and response.over_quota for response in responses)
    assert delays[0] >= 0.9 * LONG / 2
    assert delays[-1] > 5 * delays[0]
    assert queue.counts().waiting == 2
    assert not any(wait.done() for wait in waits)
    queue.add_requests([capture_request(deployment=1)])
    assert await claimed(waits[1]) == "s"


async def test_another_project_has_its_own_quota(queue: LongPollQueue) -> None:
    await park(queue, of_project(1, "a"))
    await park(queue, replace(of_project(1, "b", deployment=2), project=10))


async def test_a_handshake_that_ended_makes_room_in_its_project(queue: LongPollQueue) -> None:
    (assigned,) = await park(queue, of_project(1, "a"))
    queue.add_requests([capture_request()])
    await claimed(assigned)
    (cancelled,) = await park(queue, of_project(1, "b", deployment=2))
    cancelled.cancel()
    await until(lambda: queue.counts().waiting == 0)
    await queue.wait(of_project(1, "c", deployment=3), SHORT)
    await park(queue, of_project(1, "d", deployment=4))


async def test_at_its_poll_timeout_an_agent_gives_others_of_a_full_project_a_turn(
    queue: LongPollQueue,
) -> None:
    response = await queue.wait(of_project(1, "a"), SHORT)
    assert isinstance(response, BackOff)
    assert not response.over_quota, "it was parked"
    assert response.retry_after >= 0.9 * SHORT / 2


async def test_an_agent_over_quota_still_gets_a_pending_request(queue: LongPollQueue) -> None:
    await park(queue, of_project(1, "held", WALL))
    queue.add_requests([capture_request("cpu", CPU, origin=RequestOrigin.PERSON)])
    await until(lambda: queue.count_user_requests(1, CPU) == 1)
    assert isinstance(await queue.wait(of_project(1, "late", CPU), LONG), Assignment)


async def test_a_quota_of_none_parks_no_agent(queue: LongPollQueue) -> None:
    response = await queue.wait(of_project(0, "a"), LONG)
    assert isinstance(response, BackOff)
    assert response.over_quota


async def test_a_full_deployment_assigns_a_pending_request_to_a_new_handshake(
    queue: LongPollQueue,
) -> None:
    await park(queue, *(agent(f"parked-{nth}", WALL) for nth in range(MAX_PARKED)))
    queue.add_requests([capture_request("cpu", CPU, origin=RequestOrigin.PERSON)])
    await until(lambda: queue.count_user_requests(1, CPU) == 1)
    assert isinstance(await queue.wait(agent("late", CPU), LONG), Assignment)


async def test_cancelled_wait_frees_its_place_and_gets_no_request(queue: LongPollQueue) -> None:
    waits = await park(queue, *(agent(f"parked-{nth}") for nth in range(MAX_PARKED)))
    waits[0].cancel()
    await until(lambda: queue.counts().waiting == MAX_PARKED - 1)
    await park(queue, agent("next"))
    queue.add_requests([capture_request("1"), capture_request("2"), capture_request("3")])
    await until(lambda: queue.counts().claimed == 3)


@pytest.mark.parametrize("steps", range(0, 40, 2))
async def test_a_wait_cancelled_during_its_assignment_gives_the_request_back(
    queue: LongPollQueue, steps: int
) -> None:
    (wait,) = await park(queue, agent("a"))
    queue.add_requests([capture_request()])
    for _ in range(steps):
        await asyncio.sleep(0)
    wait.cancel()
    await asyncio.wait({wait})
    if wait.cancelled():
        assert await claimed(asyncio.create_task(queue.wait(agent("a"), LONG))) == "s"
    # A claim that was given back counts too: counters of Prometheus never decrease.
    assert queue.counts().claimed in (1, 2)
    assert queue.counts().made == 1


async def test_requests_are_added_from_any_thread(queue: LongPollQueue) -> None:
    (wait,) = await park(queue, agent())
    thread = threading.Thread(target=queue.add_requests, args=([capture_request()],))
    thread.start()
    assert await claimed(wait) == "s"
    thread.join()


async def test_targets_have_the_offered_types_and_counts(queue: LongPollQueue) -> None:
    await park(queue, agent("a", CPU), agent("b", CPU, WALL), agent("c", HEAP, deployment=2))
    offers = sorted(await asyncio.to_thread(queue.targets), key=lambda offer: offer.deployment)
    assert offers == [
        CaptureTarget(9, 1, frozenset({CPU, WALL}), 2),
        CaptureTarget(9, 2, frozenset({HEAP}), 1),
    ]


async def test_an_agent_that_backs_off_still_counts_as_an_offer(queue: LongPollQueue) -> None:
    await queue.wait(agent("a", CPU), SHORT)
    assert queue.targets() == [CaptureTarget(9, 1, frozenset({CPU}), 0)]


async def test_a_type_added_later_counts_from_then_on(queue: LongPollQueue) -> None:
    await queue.wait(agent("a", CPU), SHORT)
    (wait,) = await park(queue, agent("a", CPU, WALL))
    assert queue.targets()[0].types == {CPU, WALL}
    queue.add_requests([capture_request("wall", WALL)])
    assert await claimed(wait) == "wall"


async def test_closing_backs_off_parked_and_new_handshakes(queue: LongPollQueue) -> None:
    waits = await park(queue, agent("a"), agent("b", deployment=2))
    await queue.close()
    responses = [await wait for wait in waits] + [await queue.wait(agent("c"), LONG)]
    assert all(
        isinstance(response, BackOff) and response.retry_after >= 1 for response in responses
    )
    assert queue.counts().waiting == 0


async def test_among_many_agents_and_requests_each_request_is_claimed_once(
    queue: LongPollQueue,
) -> None:
    deployments, each = 10, MAX_PARKED
    waiters = [
        agent(f"a-{nth}", deployment=deployment)
        for deployment in range(deployments)
        for nth in range(each)
    ]
    waits = await park(queue, *waiters)
    added = [
        capture_request(f"{deployment}-{nth}", deployment=deployment)
        for deployment in range(deployments)
        for nth in range(each)
    ]
    await asyncio.gather(*(asyncio.to_thread(queue.add_requests, added) for _ in range(3)))
    got = [await claimed(wait) for wait in waits]
    assert sorted(got) == sorted(request.id for request in added)
    assert queue.counts().claimed == deployments * each
