"""Helpers that park agents in a queue, and check their results."""

import asyncio
from collections.abc import Callable

from scheduler.long_poll.interface import Assignment, BackOff, LongPollQueue, Waiter

LONG = 90.0  # seconds; longer than any test

TIMEOUT = 60.0  # seconds, for a busy machine

Wait = asyncio.Task[Assignment | BackOff]


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT):
        while not true():  # noqa: ASYNC110  # Redis has no event for it
            await asyncio.sleep(0.005)


async def park(queue: LongPollQueue, *waiters: Waiter, poll_timeout: float = LONG) -> list[Wait]:
    """Start these waits, and return them once the queue has parked all."""
    before = queue.counts().waiting
    waits = [asyncio.create_task(queue.wait(waiter, poll_timeout)) for waiter in waiters]
    await until(lambda: queue.counts().waiting == before + len(waits))
    return waits


async def claimed(wait: Wait) -> str:
    async with asyncio.timeout(TIMEOUT):
        response = await wait
    assert isinstance(response, Assignment)
    return response.request.id
