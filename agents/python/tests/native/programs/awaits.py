"""Coroutine that waits and then works, to check that coroutines that await it are on its stack."""

import asyncio
import json
import time

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks


def work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(300))


async def inner() -> None:
    for _ in range(50):
        await asyncio.sleep(0)  # it resumes from the event loop, not from its caller
        work(0.01)


async def outer() -> None:
    await inner()


async def other() -> None:
    for _ in range(100):
        await asyncio.sleep(0)


async def both() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(outer())
        group.create_task(other())


_native.start("cpu", period_us=2000)
asyncio.run(both())
stacks = read_stacks(_native.stop())
chains = [[frame.function for frame in stack.frames] for stack in stacks]
working = [names for names in chains if "work" in names]
whole = [n for n in working if n[n.index("work") :][:3] == ["work", "inner", "outer"]]
print(json.dumps({"working": len(working), "whole": len(whole)}))
