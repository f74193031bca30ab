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
from tests.scheduler.long_poll.parking import claimed, held, until

pytestmark = pytest.mark.real

CPU, WALL, HEAP = ProfileType.CPU, ProfileType.WALL, ProfileType.HEAP
PLACES = 3
LONG, SHORT = 90.0, 0.1  # seconds
CAPTURE = 0.3


@pytest.fixture(params=["in process", "redis"])
def make_room(request: pytest.FixtureRequest) -> Callable[[float], LongPollQueue]:
    """Return a factory of queues whose captures take `capture` seconds."""

    def make(capture: float) -> LongPollQueue:
        if request.param == "redis":
            return RedisQueue(request.getfixturevalue("redis_url"), PLACES, capture)
        return InProcessQueue(PLACES, capture)

    return make


@pytest.fixture
async def room(make_room: Callable[[float], LongPollQueue]) -> AsyncIterator[LongPollQueue]:
    made = make_room(CAPTURE)
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def slow_room(make_room: Callable[[float], LongPollQueue]) -> AsyncIterator[LongPollQueue]:
    """Yield a queue whose captures take longer than any test."""
    made = make_room(LONG)
    await made.open()
    yield made
    await made.close()


def agent(name: str = "a", *types: ProfileType, deployment: int = 1) -> Waiter:
    return Waiter(name, project=9, deployment=deployment, types=frozenset(types or {CPU}))


def slot(
    name: str = "s",
    kind: ProfileType = CPU,
    at: float = 0.0,
    *,
    deployment: int = 1,
    **more: RequestOrigin,
) -> CaptureRequest:
    """Return a capture request whose time is `at` seconds from now."""
    return CaptureRequest(name, 9, deployment, kind, time.time() + at, **more)


async def test_a_waiting_agent_gets_the_slot_at_its_moment(room: LongPollQueue) -> None:
    (wait,) = await held(room, agent())
    request = slot(at=0.2)
    room.add_requests([request])
    assert await wait == Assignment(request)
    assert time.time() >= request.scheduled
    assert room.counts().claimed == 1


async def test_without_a_slot_an_agent_is_sent_away_when_its_hold_is_over(
    room: LongPollQueue,
) -> None:
    answer = await room.wait(agent(), SHORT)
    assert isinstance(answer, BackOff)
    assert answer.retry_after <= SHORT / 10, "there is room: it may come back at once"
    assert room.counts().waiting == 0


async def test_it_tells_what_an_agent_is_doing(room: LongPollQueue) -> None:
    idle = AgentActivity(waiting=False, capturing_for=0.0)
    await held(room, agent("a"), agent("b", deployment=2))
    page = [(1, "a"), (1, "b"), (2, "b"), (3, "a")]
    doing = await asyncio.to_thread(room.activities, page)
    assert doing == [AgentActivity(True, 0.0), idle, AgentActivity(True, 0.0), idle]


async def test_it_tells_how_long_an_agent_captures_still(slow_room: LongPollQueue) -> None:
    (wait,) = await held(slow_room, agent("a"))
    slow_room.add_requests([slot()])
    await claimed(wait)
    (doing,) = await asyncio.to_thread(slow_room.activities, [(1, "a")])
    assert not doing.waiting
    assert 0 < doing.capturing_for <= LONG * 1.1 + 0.001, "Redis has whole milliseconds, rounded up"


async def test_a_slot_is_claimed_by_one_agent_only(room: LongPollQueue) -> None:
    waits = await held(room, agent("a"), agent("b"), agent("c"))
    room.add_requests([slot()])
    done, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    assert (len(done), len(left)) == (1, 2)
    assert room.counts().waiting == 2


async def test_slots_go_to_different_agents(room: LongPollQueue) -> None:
    waits = await held(room, agent("a"), agent("b"), agent("c"))
    room.add_requests([slot("1"), slot("2"), slot("3")])
    assert {await claimed(wait) for wait in waits} == {"1", "2", "3"}


async def test_a_type_is_asked_only_of_those_that_offer_it(room: LongPollQueue) -> None:
    _, wall = await held(room, agent("a", CPU), agent("b", WALL))
    room.add_requests([slot("wall", WALL)])
    assert await claimed(wall) == "wall"
    assert room.counts().waiting == 1


async def test_a_slot_stays_in_its_deployment(room: LongPollQueue) -> None:
    other, own = await held(room, agent(deployment=1), agent(deployment=2))
    room.add_requests([slot(deployment=2)])
    assert await claimed(own) == "s"
    assert not other.done()


async def test_if_none_waits_the_first_to_arrive_gets_it(room: LongPollQueue) -> None:
    room.add_requests([slot(at=-EXPIRY_SECONDS / 2)])
    answer = await room.wait(agent(), LONG)
    assert isinstance(answer, Assignment)
    assert isinstance(await room.wait(agent("b"), SHORT), BackOff)


async def test_a_slot_lapses_60_s_after_its_moment_and_is_counted(room: LongPollQueue) -> None:
    room.add_requests([slot(at=-EXPIRY_SECONDS + 0.2)])
    await until(lambda: room.counts().expired == 1)
    assert isinstance(await room.wait(agent(), SHORT), BackOff)
    assert room.counts().claimed == 0


async def test_a_slot_is_not_added_twice(room: LongPollQueue) -> None:
    (first,) = await held(room, agent("a"))
    room.add_requests([slot("same"), slot("same")])
    assert await claimed(first) == "same"
    room.add_requests([slot("same")])
    assert isinstance(await room.wait(agent("b"), SHORT), BackOff)


async def test_what_a_person_asked_for_goes_first(room: LongPollQueue) -> None:
    room.add_requests(
        [slot("plan", at=-5), slot("person", WALL, at=-1, origin=RequestOrigin.PERSON)]
    )
    await until(lambda: room.count_user_requests(1, WALL) == 1)
    answer = await room.wait(agent("a", CPU, WALL), LONG)
    assert isinstance(answer, Assignment)
    assert answer.request.id == "person"
    assert room.count_user_requests(1, WALL) == 0


async def test_an_agent_captures_one_profile_at_a_time(room: LongPollQueue) -> None:
    (wait,) = await held(room, agent())
    started = time.time()
    room.add_requests([slot("first")])
    assert await claimed(wait) == "first"
    (again,) = await held(room, agent())
    room.add_requests([slot("second")])
    assert await claimed(again) == "second"
    assert time.time() - started >= CAPTURE


async def test_what_takes_an_instant_keeps_an_agent_for_a_moment_only(
    make_room: Callable[[float], LongPollQueue],
) -> None:
    capture = 5.0
    room = make_room(capture)
    await room.open()
    (wait,) = await held(room, agent("a", HEAP))
    room.add_requests([slot("first", HEAP)])
    await wait
    started = time.time()
    room.add_requests([slot("second", HEAP)])
    assert isinstance(await room.wait(agent("a", HEAP), LONG), Assignment)
    assert time.time() - started < capture
    await room.close()


async def test_while_one_captures_another_gets_the_slot(slow_room: LongPollQueue) -> None:
    room = slow_room
    (wait,) = await held(room, agent("a"))
    room.add_requests([slot("first")])
    await wait
    _, other = await held(room, agent("a"), agent("b"))
    room.add_requests([slot("second")])
    assert await claimed(other) == "second"


async def test_a_full_deployment_sends_the_next_away_and_later_ones_for_longer(
    room: LongPollQueue,
) -> None:
    await held(room, *(agent(f"held-{nth}") for nth in range(PLACES)))
    answers = [await room.wait(agent(f"late-{nth}"), LONG) for nth in range(50)]
    delays = [answer.retry_after for answer in answers if isinstance(answer, BackOff)]
    assert len(delays) == 50
    assert delays[0] >= 0.9 * LONG / 2
    assert delays[-1] > 5 * delays[0]
    assert room.counts().waiting == PLACES


async def test_one_full_deployment_leaves_others_their_places(room: LongPollQueue) -> None:
    await held(room, *(agent(f"held-{nth}") for nth in range(PLACES)))
    await held(room, agent(deployment=2))


def of_project(quota: int, name: str, *types: ProfileType, deployment: int = 1) -> Waiter:
    """Return an agent of a project that may have `quota` parked handshakes."""
    return replace(agent(name, *types, deployment=deployment), project_quota=quota)


async def test_a_project_over_its_quota_backs_off_at_once_and_parked_agents_stay(
    room: LongPollQueue,
) -> None:
    waits = await held(room, *(of_project(2, f"held-{n}", deployment=n) for n in range(2)))
    answers = [await room.wait(of_project(2, f"late-{n}", deployment=n), LONG) for n in range(50)]
    delays = [answer.retry_after for answer in answers if isinstance(answer, BackOff)]
    assert len(delays) == 50
    assert all(isinstance(answer, BackOff) and answer.over_quota for answer in answers)
    assert delays[0] >= 0.9 * LONG / 2
    assert delays[-1] > 5 * delays[0]
    assert room.counts().waiting == 2
    assert not any(wait.done() for wait in waits)
    room.add_requests([slot(deployment=1)])
    assert await claimed(waits[1]) == "s"


async def test_another_project_has_its_own_quota(room: LongPollQueue) -> None:
    await held(room, of_project(1, "a"))
    await held(room, replace(of_project(1, "b", deployment=2), project=10))


async def test_a_handshake_that_ended_makes_room_in_its_project(room: LongPollQueue) -> None:
    (assigned,) = await held(room, of_project(1, "a"))
    room.add_requests([slot()])
    await claimed(assigned)
    (cancelled,) = await held(room, of_project(1, "b", deployment=2))
    cancelled.cancel()
    await until(lambda: room.counts().waiting == 0)
    await room.wait(of_project(1, "c", deployment=3), SHORT)
    await held(room, of_project(1, "d", deployment=4))


async def test_at_its_poll_timeout_an_agent_gives_others_of_a_full_project_a_turn(
    room: LongPollQueue,
) -> None:
    answer = await room.wait(of_project(1, "a"), SHORT)
    assert isinstance(answer, BackOff)
    assert not answer.over_quota, "it was parked"
    assert answer.retry_after >= 0.9 * SHORT / 2


async def test_an_agent_over_quota_still_gets_a_pending_request(room: LongPollQueue) -> None:
    await held(room, of_project(1, "held", WALL))
    room.add_requests([slot("cpu", CPU, origin=RequestOrigin.PERSON)])
    await until(lambda: room.count_user_requests(1, CPU) == 1)
    assert isinstance(await room.wait(of_project(1, "late", CPU), LONG), Assignment)


async def test_a_quota_of_none_parks_no_agent(room: LongPollQueue) -> None:
    answer = await room.wait(of_project(0, "a"), LONG)
    assert isinstance(answer, BackOff)
    assert answer.over_quota


async def test_even_a_full_deployment_gives_an_open_slot_to_who_arrives(
    room: LongPollQueue,
) -> None:
    await held(room, *(agent(f"held-{nth}", WALL) for nth in range(PLACES)))
    room.add_requests([slot("cpu", CPU, origin=RequestOrigin.PERSON)])
    await until(lambda: room.count_user_requests(1, CPU) == 1)
    assert isinstance(await room.wait(agent("late", CPU), LONG), Assignment)


async def test_a_cancelled_wait_leaves_no_trace(room: LongPollQueue) -> None:
    waits = await held(room, *(agent(f"held-{nth}") for nth in range(PLACES)))
    waits[0].cancel()
    await until(lambda: room.counts().waiting == PLACES - 1)
    await held(room, agent("next"))
    room.add_requests([slot("1"), slot("2"), slot("3")])
    await until(lambda: room.counts().claimed == 3)


@pytest.mark.parametrize("steps", range(0, 40, 2))
async def test_a_wait_cancelled_as_it_is_given_a_slot_gives_it_back(
    room: LongPollQueue, steps: int
) -> None:
    (wait,) = await held(room, agent("a"))
    room.add_requests([slot()])
    for _ in range(steps):
        await asyncio.sleep(0)
    wait.cancel()
    await asyncio.wait({wait})
    if wait.cancelled():
        assert await claimed(asyncio.create_task(room.wait(agent("a"), LONG))) == "s"
    assert room.counts().claimed == 1


async def test_slots_are_added_from_any_thread(room: LongPollQueue) -> None:
    (wait,) = await held(room, agent())
    thread = threading.Thread(target=room.add_requests, args=([slot()],))
    thread.start()
    assert await claimed(wait) == "s"
    thread.join()


async def test_it_knows_what_is_offered_and_by_how_many(room: LongPollQueue) -> None:
    await held(room, agent("a", CPU), agent("b", CPU, WALL), agent("c", HEAP, deployment=2))
    offers = sorted(await asyncio.to_thread(room.targets), key=lambda offer: offer.deployment)
    assert offers == [
        CaptureTarget(9, 1, frozenset({CPU, WALL}), 2),
        CaptureTarget(9, 2, frozenset({HEAP}), 1),
    ]


async def test_who_was_sent_away_or_captures_still_counts_as_an_offer(room: LongPollQueue) -> None:
    await room.wait(agent("a", CPU), SHORT)
    assert room.targets() == [CaptureTarget(9, 1, frozenset({CPU}), 0)]


async def test_a_type_added_later_counts_from_then_on(room: LongPollQueue) -> None:
    await room.wait(agent("a", CPU), SHORT)
    (wait,) = await held(room, agent("a", CPU, WALL))
    assert room.targets()[0].types == {CPU, WALL}
    room.add_requests([slot("wall", WALL)])
    assert await claimed(wait) == "wall"


async def test_emptying_sends_everyone_away_and_refuses_newcomers(room: LongPollQueue) -> None:
    waits = await held(room, agent("a"), agent("b", deployment=2))
    await room.close()
    answers = [await wait for wait in waits] + [await room.wait(agent("c"), LONG)]
    assert all(isinstance(answer, BackOff) and answer.retry_after >= 1 for answer in answers)
    assert room.counts().waiting == 0


async def test_among_many_agents_and_slots_each_slot_is_claimed_once(room: LongPollQueue) -> None:
    deployments, each = 10, PLACES
    waiters = [
        agent(f"a-{nth}", deployment=deployment)
        for deployment in range(deployments)
        for nth in range(each)
    ]
    waits = await held(room, *waiters)
    added = [
        slot(f"{deployment}-{nth}", deployment=deployment)
        for deployment in range(deployments)
        for nth in range(each)
    ]
    await asyncio.gather(*(asyncio.to_thread(room.add_requests, added) for _ in range(3)))
    got = [await claimed(wait) for wait in waits]
    assert sorted(got) == sorted(slot.id for slot in added)
    assert room.counts().claimed == deployments * each
