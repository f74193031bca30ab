"""Measure the long-poll queue alone: memory of 5,000 parked agents, and time to release them.

Run `python -m benchmarks long_poll_queue`; with REDIS_URL set it measures the Redis queue.
"""

import asyncio
import gc
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.tools.table import Figure, show
from projects.profile_types import ProfileType
from scheduler.capture_requests import CaptureTarget
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.long_poll.interface import LongPollQueue, Waiter
from scheduler.long_poll.redis import RedisQueue
from scheduler.policy import plan_capture_requests

AGENTS, PARKED, DEPLOYMENTS = 5000, 32, 160
TYPES = (ProfileType.CPU, ProfileType.WALL, ProfileType.HEAP, ProfileType.THREADS)
_TASKS: list[asyncio.Task[None]] = []


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def waiter(nth: int) -> Waiter:
    return Waiter(f"agent-{nth:05}", 1, nth % DEPLOYMENTS, frozenset(TYPES))


async def bytes_without_queue() -> float:
    """Measure the bytes of a task and its Waiter without a queue.

    The tasks are kept alive, so that their memory is not reused by the measurement that follows.
    """

    async def wait(waiter: Waiter) -> None:
        await asyncio.get_running_loop().create_future()

    before = resident_bytes()
    _TASKS.extend(asyncio.create_task(wait(waiter(nth))) for nth in range(AGENTS))
    await asyncio.sleep(0)
    gc.collect()
    return (resident_bytes() - before) / AGENTS


async def measure(queue: LongPollQueue) -> list[Figure]:
    await queue.open()
    gc.collect()
    without = await bytes_without_queue()
    before, started = resident_bytes(), time.perf_counter()
    waits = [asyncio.create_task(queue.wait(waiter(nth), 300)) for nth in range(AGENTS)]
    while queue.counts().waiting < AGENTS:  # noqa: ASYNC110  # the queue has no event for it
        await asyncio.sleep(0.01)
    filled = time.perf_counter() - started
    gc.collect()
    each = (resident_bytes() - before) / AGENTS - without
    planned = await _claim_some(queue, waits)
    started = time.perf_counter()
    await queue.close()
    await asyncio.gather(*waits)
    released = time.perf_counter() - started
    return [
        Figure("memory of a parked agent, without its request", each / 1000, "kB", 5),
        Figure(f"{AGENTS:,} agents arrive", filled, "s"),
        Figure(f"{DEPLOYMENTS} capture requests claimed", planned, "s"),
        Figure("all are released", released, "s", 3),
    ]


async def _claim_some(queue: LongPollQueue, waits: Sequence[asyncio.Task[Any]]) -> float:
    """Add one capture request per deployment, all at once, and wait until they are claimed."""
    offers = [CaptureTarget(1, nth, frozenset(TYPES[:1]), 1) for nth in range(DEPLOYMENTS)]
    capture_requests = plan_capture_requests(offers, {1: 1.0}, 0.001, time.time(), "benchmark")
    started = time.perf_counter()
    await asyncio.to_thread(queue.add_requests, capture_requests)
    for _ in range(DEPLOYMENTS):
        waits_left = [wait for wait in waits if not wait.done()]
        if len(waits_left) <= len(waits) - DEPLOYMENTS:
            break
        await asyncio.wait(waits_left, return_when=asyncio.FIRST_COMPLETED)
    return time.perf_counter() - started


def plan() -> list[Figure]:
    offers = [CaptureTarget(1, nth, frozenset(TYPES), 32) for nth in range(5000)]
    started = time.process_time()
    capture_requests = plan_capture_requests(
        offers, {1: 1.0}, 60, 1_800_000_000, str(random.random())
    )
    seconds = time.process_time() - started
    return [
        Figure(
            f"plan of {len(capture_requests):,} requests, 5,000 deployments", seconds, "s CPU", 1
        )
    ]


def main() -> int:
    url = os.environ.get("REDIS_URL", "")
    queue = RedisQueue(url, PARKED, 10.0) if url else InProcessQueue(PARKED, 10.0)
    figures = uvloop.run(measure(queue)) + plan()
    return 0 if show(f"The long-poll queue ({type(queue).__name__})", figures) else 1


if __name__ == "__main__":
    sys.exit(main())
