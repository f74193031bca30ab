"""Simulated fleet of well-behaved agents, with beat, on a virtual clock."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.test import override_settings

from projects.profile_types import INSTANTANEOUS, ProfileType
from scheduler.long_poll.in_process import InProcessQueue
from scheduler.long_poll.interface import Assignment, QueueCounts, Waiter
from scheduler.tasks import upcoming_requests
from tests.scheduler.virtual_time import START, clock, run

POLL_TIMEOUT, CAPTURE, UPLOAD, PERIOD = 50.0, 10.0, 0.3, 60.0


@dataclass(frozen=True, slots=True)
class Capture:
    agent: str
    type: ProfileType
    at: float  # seconds since the start
    delay: float  # seconds after the capture request's time


@dataclass(slots=True)
class Log:
    captures: list[Capture] = field(default_factory=list)
    requests: list[float] = field(default_factory=list)  # seconds since the start
    counts: QueueCounts = field(default_factory=lambda: QueueCounts(0, 0, 0, 0))

    def between(self, start: float, end: float) -> list[Capture]:
        return [capture for capture in self.captures if start <= capture.at < end]

    def requests_by_minute(self, minutes: int) -> list[int]:
        by_minute = [0] * minutes
        for at in self.requests:
            by_minute[int(at // 60)] += 1
        return by_minute


async def agent(queue: InProcessQueue, name: str, types: frozenset[ProfileType], log: Log) -> None:
    while True:
        log.requests.append(clock() - START)
        response = await queue.wait(Waiter(name, 1, 1, types), POLL_TIMEOUT)
        if not isinstance(response, Assignment):
            await asyncio.sleep(response.retry_after)
            continue
        request = response.request
        log.captures.append(
            Capture(name, request.type, clock() - START, clock() - request.scheduled)
        )
        await asyncio.sleep(UPLOAD + (0 if request.type in INSTANTANEOUS else CAPTURE))


async def _beat(queue: InProcessQueue, rate: float) -> None:
    while True:
        await asyncio.sleep(PERIOD)
        queue.add_requests(upcoming_requests(queue.targets(), {1: rate}, PERIOD, clock()))


async def _watch(
    agents: int, types: Sequence[ProfileType], seconds: float, rate: float, seed: int
) -> Log:
    rng = random.Random(seed)
    queue = InProcessQueue(32, CAPTURE, clock=clock, rng=rng)
    log = Log()
    # With a fixed seed every run would plan the same minutes, so beat starts at a random one.
    await asyncio.sleep(PERIOD * rng.randrange(1_000_000))
    begin = clock()
    tasks = [
        asyncio.create_task(agent(queue, f"agent-{nth}", frozenset(types), log))
        for nth in range(agents)
    ]
    tasks.append(asyncio.create_task(_beat(queue, rate)))
    await asyncio.sleep(seconds)
    log.counts = queue.counts()
    del tasks
    offset = begin - START
    log.requests = [at - offset for at in log.requests]
    log.captures = [
        Capture(each.agent, each.type, each.at - offset, each.delay) for each in log.captures
    ]
    return log


def watch(
    agents: int,
    types: Sequence[ProfileType],
    *,
    minutes: float,
    rate: float = 1.0,
    seed: int = 0,
) -> Log:
    """Return a log of what a deployment's agents do within `minutes` of their start."""
    with override_settings(SECRET_KEY="the seed of the plan"):
        return run(_watch(agents, types, minutes * 60, rate, seed))
