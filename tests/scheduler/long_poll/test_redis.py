"""Redis queue: several processes, some of which are killed, and failures of Redis."""

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureRequest
from scheduler.long_poll.interface import Assignment, BackOff, QueueUnavailable, Waiter
from scheduler.long_poll.redis import RedisQueue
from tests import services
from tests.scheduler.long_poll.parking import LONG, TIMEOUT, claimed, park, until

pytestmark = pytest.mark.real

MAX_PARKED, CAPTURE, SHORT = 3, LONG, 1.0


def agent(name: str) -> Waiter:
    return Waiter(name, 9, 1, frozenset({ProfileType.CPU}))


def capture_request(name: str = "s") -> CaptureRequest:
    return CaptureRequest(name, 9, 1, ProfileType.CPU, time.time())


@pytest.fixture
async def queues(redis_url: str) -> AsyncIterator[list[RedisQueue]]:
    """Yield two queues on one Redis, which act as two web processes."""
    made = [RedisQueue(redis_url, MAX_PARKED, CAPTURE) for _ in range(2)]
    for queue in made:
        await queue.open()
    yield made
    for queue in made:
        await queue.close()


async def park_in_another_process(url: str, name: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.scheduler.long_poll.park_one",
        url,
        name,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    assert await process.stdout.readline() == b"parked\n"
    return process


async def test_processes_share_the_limit_of_a_deployment(queues: list[RedisQueue]) -> None:
    first, second = queues
    await park(first, agent("a"), agent("b"))
    await park(second, agent("c"))
    response = await second.wait(agent("d"), LONG)
    assert isinstance(response, BackOff)
    assert response.retry_after > 1


async def test_processes_share_the_quota_of_a_project(queues: list[RedisQueue]) -> None:
    first, second = queues
    await park(first, replace(agent("a"), project_quota=1))
    response = await second.wait(replace(agent("b"), deployment=2, project_quota=1), LONG)
    assert isinstance(response, BackOff)
    assert response.over_quota


@pytest.mark.slow
async def test_agents_of_a_killed_process_count_for_the_quota_no_longer_than_the_hold(
    queues: list[RedisQueue],
) -> None:
    queue = queues[0]
    waiter = replace(agent("dead"), project_quota=1)
    await queue._scripts.arrive("dead.1", waiter, SHORT)
    response = await queue.wait(replace(waiter, agent="early"), LONG)
    assert isinstance(response, BackOff)
    assert response.over_quota
    await until(lambda: queue.counts().waiting == 0)
    await park(queue, replace(waiter, agent="late"))


async def test_a_request_of_one_process_goes_to_an_agent_of_the_other(
    queues: list[RedisQueue],
) -> None:
    first, second = queues
    (wait,) = await park(second, agent("a"))
    await asyncio.to_thread(first.add_requests, [capture_request()])
    assert await claimed(wait) == "s"


async def test_a_request_is_pending_at_its_time_before_any_process_looks_for_it(
    queues: list[RedisQueue],
) -> None:
    first, second = queues
    wall = frozenset({ProfileType.WALL})
    await park(first, *(Waiter(f"full-{nth}", 9, 1, wall) for nth in range(MAX_PARKED)))
    await asyncio.to_thread(second._state.add_requests, [capture_request()])
    assert isinstance(await first.wait(agent("late"), LONG), Assignment)


async def test_an_agent_that_captures_is_busy_for_all_processes(queues: list[RedisQueue]) -> None:
    first, second = queues
    (wait,) = await park(first, agent("a"))
    first.add_requests([capture_request("1")])
    await claimed(wait)
    _, other = await park(second, agent("a"), agent("b"))
    second.add_requests([capture_request("2")])
    assert await claimed(other) == "2"


async def test_a_process_assigns_requests_to_agents_of_another_process(redis_url: str) -> None:
    process = await park_in_another_process(redis_url, "far")
    queue = RedisQueue(redis_url, MAX_PARKED, CAPTURE)
    await queue.open()
    queue.add_requests([capture_request()])
    output, _ = await process.communicate()
    assert b"id='s'" in output
    await queue.close()


async def test_agents_of_a_killed_process_get_no_requests(redis_url: str) -> None:
    process = await park_in_another_process(redis_url, "ghost")
    process.kill()
    await process.wait()
    queue = RedisQueue(redis_url, MAX_PARKED, CAPTURE)
    (wait,) = await park(queue, agent("alive"))
    for nth in range(3):
        queue.add_requests([capture_request(f"{nth}")])
        assert await claimed(wait) == f"{nth}"
        (wait,) = await park(queue, agent(f"alive-{nth}"))
    assert queue.counts().claimed == 3
    await queue.close()


@pytest.mark.slow
async def test_agents_of_a_killed_process_count_no_longer_than_the_poll_timeout(
    redis_url: str,
) -> None:
    queue = RedisQueue(redis_url, MAX_PARKED, CAPTURE)
    await queue.open()
    # State that a process leaves when it dies: agents in Redis that no process holds.
    for nth in range(MAX_PARKED):
        await queue._scripts.arrive(f"dead.{nth}", agent(f"dead-{nth}"), SHORT)
    assert isinstance(await queue.wait(agent("early"), LONG), BackOff)
    await until(lambda: queue.counts().waiting == 0)
    await park(queue, agent("late"))
    await queue.close()


async def test_a_cancellation_that_redis_py_swallows_still_closes_the_queue(
    redis_url: str,
) -> None:
    queue, started = RedisQueue(redis_url, MAX_PARKED, CAPTURE), asyncio.Event()
    await queue.open()

    async def deaf(**_: object) -> list[str]:
        started.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(LONG)
        return [""]

    queue._scripts._scripts["tick"] = deaf  # type: ignore[assignment]
    queue._wake.set()
    async with asyncio.timeout(TIMEOUT):
        await started.wait()
        await queue.close()


@pytest.fixture
def port() -> int:
    return services.free_port()


async def test_without_redis_agents_back_off_and_it_is_logged_once(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    queue = RedisQueue(f"redis://127.0.0.1:{port}/0", MAX_PARKED, CAPTURE)
    responses = [await queue.wait(agent("a"), LONG) for _ in range(5)]
    assert all(
        isinstance(response, BackOff) and LONG / 2 <= response.retry_after <= LONG
        for response in responses
    )
    assert sum("long-poll queue lost Redis" in line for line in caplog.messages) == 1
    with pytest.raises(QueueUnavailable, match="is not available"):
        await asyncio.to_thread(queue.targets)
    await queue.close()


@pytest.mark.slow
async def test_parked_agents_back_off_when_redis_stops_and_park_again_after_it_returns(
    port: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    queue = RedisQueue(f"redis://127.0.0.1:{port}/0", MAX_PARKED, CAPTURE)
    with services.redis(tmp_path, port):
        (wait,) = await park(queue, agent("a"))
    assert isinstance(await wait, BackOff)
    assert isinstance(await queue.wait(agent("a"), LONG), BackOff)
    with services.redis(tmp_path, port):
        await until(lambda: any("connected to Redis again" in line for line in caplog.messages))
        (wait,) = await park(queue, agent("a"))
        queue.add_requests([capture_request()])
        assert isinstance(await wait, Assignment)
        await queue.close()
    assert sum("long-poll queue lost Redis" in line for line in caplog.messages) == 1
