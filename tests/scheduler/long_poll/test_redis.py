"""Redis queue: several processes, some of which are killed, and failures of Redis."""

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureRequest
from scheduler.long_poll.interface import Assignment, BackOff, QueueUnavailable, Waiter
from scheduler.long_poll.redis import RedisQueue
from tests import services
from tests.scheduler.long_poll.parking import LONG, TIMEOUT, claimed, held, until

pytestmark = pytest.mark.real

PLACES, CAPTURE, SHORT = 3, LONG, 1.0


def agent(name: str) -> Waiter:
    return Waiter(name, 9, 1, frozenset({ProfileType.CPU}))


def slot(name: str = "s") -> CaptureRequest:
    return CaptureRequest(name, 9, 1, ProfileType.CPU, time.time())


@pytest.fixture
async def rooms(redis_url: str) -> AsyncIterator[list[RedisQueue]]:
    """Yield two queues on one Redis, which act as two web processes."""
    made = [RedisQueue(redis_url, PLACES, CAPTURE) for _ in range(2)]
    for room in made:
        await room.open()
    yield made
    for room in made:
        await room.close()


async def hold_elsewhere(url: str, name: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.scheduler.long_poll.park_one",
        url,
        name,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    assert await process.stdout.readline() == b"held\n"
    return process


async def test_processes_share_the_places_of_a_deployment(rooms: list[RedisQueue]) -> None:
    first, second = rooms
    await held(first, agent("a"), agent("b"))
    await held(second, agent("c"))
    answer = await second.wait(agent("d"), LONG)
    assert isinstance(answer, BackOff)
    assert answer.retry_after > 1


async def test_a_slot_that_one_process_adds_goes_to_an_agent_of_the_other(
    rooms: list[RedisQueue],
) -> None:
    first, second = rooms
    (wait,) = await held(second, agent("a"))
    await asyncio.to_thread(first.add_requests, [slot()])
    assert await claimed(wait) == "s"


async def test_a_slot_that_is_due_is_open_before_any_process_has_looked_for_it(
    rooms: list[RedisQueue],
) -> None:
    first, second = rooms
    wall = frozenset({ProfileType.WALL})
    await held(first, *(Waiter(f"full-{nth}", 9, 1, wall) for nth in range(PLACES)))
    await asyncio.to_thread(second._state.add_requests, [slot()])
    assert isinstance(await first.wait(agent("late"), LONG), Assignment)


async def test_an_agent_that_captures_is_busy_for_all_processes(rooms: list[RedisQueue]) -> None:
    first, second = rooms
    (wait,) = await held(first, agent("a"))
    first.add_requests([slot("1")])
    await claimed(wait)
    _, other = await held(second, agent("a"), agent("b"))
    second.add_requests([slot("2")])
    assert await claimed(other) == "2"


async def test_a_process_gives_what_it_holds_in_another_process(redis_url: str) -> None:
    process = await hold_elsewhere(redis_url, "far")
    room = RedisQueue(redis_url, PLACES, CAPTURE)
    await room.open()
    room.add_requests([slot()])
    output, _ = await process.communicate()
    assert b"id='s'" in output
    await room.close()


async def test_agents_of_a_killed_process_are_given_nothing(redis_url: str) -> None:
    process = await hold_elsewhere(redis_url, "ghost")
    process.kill()
    await process.wait()
    room = RedisQueue(redis_url, PLACES, CAPTURE)
    (wait,) = await held(room, agent("alive"))
    for nth in range(3):
        room.add_requests([slot(f"{nth}")])
        assert await claimed(wait) == f"{nth}"
        (wait,) = await held(room, agent(f"alive-{nth}"))
    assert room.counts().claimed == 3
    await room.close()


async def test_agents_of_a_killed_process_keep_their_places_no_longer_than_the_hold(
    redis_url: str,
) -> None:
    room = RedisQueue(redis_url, PLACES, CAPTURE)
    await room.open()
    # State that a process leaves when it dies: agents in Redis that no process holds.
    for nth in range(PLACES):
        await room._scripts.arrive(f"dead.{nth}", agent(f"dead-{nth}"), SHORT)
    assert isinstance(await room.wait(agent("early"), LONG), BackOff)
    await until(lambda: room.counts().waiting == 0)
    await held(room, agent("late"))
    await room.close()


async def test_a_cancellation_that_redis_py_keeps_to_itself_ends_the_room_all_the_same(
    redis_url: str,
) -> None:
    room, started = RedisQueue(redis_url, PLACES, CAPTURE), asyncio.Event()
    await room.open()

    async def deaf(**_: object) -> list[str]:
        started.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(LONG)
        return [""]

    room._scripts._scripts["tick"] = deaf  # type: ignore[assignment]
    room._wake.set()
    async with asyncio.timeout(TIMEOUT):
        await started.wait()
        await room.close()


@pytest.fixture
def port() -> int:
    return services.free_port()


async def test_without_redis_agents_are_sent_away_and_it_is_told_once(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    room = RedisQueue(f"redis://127.0.0.1:{port}/0", PLACES, CAPTURE)
    answers = [await room.wait(agent("a"), LONG) for _ in range(5)]
    assert all(
        isinstance(answer, BackOff) and LONG / 2 <= answer.retry_after <= LONG for answer in answers
    )
    assert sum("long-poll queue lost Redis" in line for line in caplog.messages) == 1
    with pytest.raises(QueueUnavailable, match="is not available"):
        await asyncio.to_thread(room.targets)
    await room.close()


async def test_when_redis_goes_the_held_are_sent_away_and_when_it_returns_all_is_well(
    port: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    room = RedisQueue(f"redis://127.0.0.1:{port}/0", PLACES, CAPTURE)
    with services.redis(tmp_path, port):
        (wait,) = await held(room, agent("a"))
    assert isinstance(await wait, BackOff)
    assert isinstance(await room.wait(agent("a"), LONG), BackOff)
    with services.redis(tmp_path, port):
        await until(lambda: any("connected to Redis again" in line for line in caplog.messages))
        (wait,) = await held(room, agent("a"))
        room.add_requests([slot()])
        assert isinstance(await wait, Assignment)
        await room.close()
    assert sum("long-poll queue lost Redis" in line for line in caplog.messages) == 1
