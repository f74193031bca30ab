"""asyncio tasks that await tasks, to check awaiting tasks and names in the samples.

Usage: tasks.py CPU|WALL chains|names|storm [uvloop]. The first capture of `names` does not enable
tasks.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from functools import partial
from importlib import import_module
from itertools import pairwise, takewhile

from capturing import captured

from flamewatch import _native
from flamewatch.capture.native_sampler import NativeSampler
from flamewatch.capture.profile_types import ProfileType

Main = Callable[[], Coroutine[None, None, None]]
KIND = ProfileType(sys.argv[1])
LOOP = import_module(sys.argv[3]).new_event_loop if sys.argv[3:] else None
BELOW = {"Handle._run", "Runner.run"}  # callers of a coroutine: the first one found ends the chain
plain, with_tasks = NativeSampler(_native), NativeSampler(_native, tasks=True)


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(300))


async def leaf() -> None:
    for _ in range(25):
        await asyncio.sleep(0)
        burn(0.003)


async def mid() -> None:
    await leaf()


async def direct() -> None:
    await asyncio.create_task(mid())


async def direct_twice() -> None:
    await asyncio.create_task(direct())


async def gathered() -> None:
    await asyncio.gather(mid(), asyncio.sleep(0.001))


async def grouped() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(mid())


async def by_nobody() -> None:
    done = asyncio.Event()
    task = asyncio.create_task(mid())
    task.add_done_callback(lambda _: done.set())
    await done.wait()


async def by_two() -> None:
    task = asyncio.create_task(mid())
    await asyncio.gather(first_waiter(task), second_waiter(task))


async def first_waiter(task: "asyncio.Task[None]") -> None:
    await task


async def second_waiter(task: "asyncio.Task[None]") -> None:
    await task


WAYS_TO_AWAIT = (direct, direct_twice, gathered, grouped, by_nobody, by_two)


def chains() -> dict[str, object]:
    """Count the callers of `leaf` up to the event loop, for each way to await."""
    found = {}
    for way in WAYS_TO_AWAIT:
        capture = captured(with_tasks, KIND, partial(run, way))
        seen: Counter[str] = Counter()
        for stack in capture.stacks:
            names = [frame.function for frame in stack.frames]
            if "leaf" in names and BELOW & {*names}:
                chain = takewhile(lambda name: name not in BELOW, names[names.index("leaf") :])
                ours = [name for name in chain if not name.startswith("TaskGroup.")]
                seen[" ".join(ours)] += stack.count
        found[way.__name__] = seen
    return found


async def red() -> None:
    await leaf()


async def green() -> None:
    await leaf()


async def unnamed() -> None:
    await leaf()


async def named() -> None:
    await asyncio.gather(
        asyncio.create_task(red(), name="the red 1"),
        asyncio.create_task(green(), name="grün \u6f22 \U00010400"),
        asyncio.create_task(unnamed()),
    )


def names() -> dict[str, object]:
    return {"plain": labelled(plain), "with_tasks": labelled(with_tasks)}


def labelled(sampler: NativeSampler) -> Counter[str]:
    seen: Counter[str] = Counter()
    for stack in captured(sampler, KIND, partial(run, named)).stacks:
        for function in {"red", "green", "unnamed"} & {frame.function for frame in stack.frames}:
            seen[f"{function} as {dict(stack.labels).get('task', 'none')}"] += stack.value
    return seen


async def short(depth: int) -> None:
    if depth:
        await asyncio.create_task(short(depth - 1), name=f"depth {depth}")
    sum(range(500))


CALLERS_OF_SHORT = {"short", "many", "many.<locals>.<genexpr>", *BELOW}


async def many() -> None:
    end = time.thread_time() + 2
    while time.thread_time() < end:
        await asyncio.gather(*(short(depth) for depth in range(6)))


def storm() -> dict[str, object]:
    """Create and finish tasks as fast as possible."""
    dropped: Counter[str] = Counter()
    edges: Counter[str] = Counter()
    capture = captured(with_tasks, KIND, partial(run, many))
    dropped.update(capture.dropped)
    for stack in capture.stacks:
        functions = [frame.function for frame in stack.frames]
        for function, caller in pairwise(functions):
            if function == "short" and caller not in CALLERS_OF_SHORT:
                edges[caller] += stack.count
    samples = sum(stack.count for stack in capture.stacks)
    return {"samples": samples, "dropped": dropped, "edges": edges}


def run(main: Main) -> None:
    with asyncio.Runner(loop_factory=LOOP) as runner:
        runner.run(main())


result = globals()[sys.argv[2]]()
print(json.dumps({**result, "version": sys.version_info[:2]}))
