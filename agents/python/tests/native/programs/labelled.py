"""Functions that each run with a label of their own, and the labels of their samples."""

import asyncio
import contextvars
import json
import sys
import time
from collections import Counter
from collections.abc import Callable

from capturing import captured

import flamewatch
from flamewatch import _native
from flamewatch.capture import native_sampler
from flamewatch.capture.native_sampler import NativeSampler
from flamewatch.capture.profile_types import ProfileType

sampler = NativeSampler(_native)
# More variables than one node of a context's HAMT holds, so that the lookup needs several levels.
CROWD = [contextvars.ContextVar[int](f"crowd{n}") for n in range(200)]


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(300))


# Not in step with the kernel's ticks of 4 ms, which would sample only one of the two functions.
def red(seconds: float = 0.0027) -> None:
    burn(seconds)


def green(seconds: float = 0.0019) -> None:
    burn(seconds)


async def red_task() -> None:
    with flamewatch.labels(colour="red"):
        for _ in range(60):
            red()
            await asyncio.sleep(0)
        await asyncio.gather(red_child(), asyncio.to_thread(red_thread))


async def red_child() -> None:
    for _ in range(30):
        red()
        await asyncio.sleep(0)


def red_thread() -> None:
    for _ in range(30):
        red()


@flamewatch.labels(colour="green")
async def green_task() -> None:
    for _ in range(120):
        green()
        await asyncio.sleep(0)


def plain() -> None:
    burn(0.1)


async def both() -> None:
    await asyncio.gather(red_task(), green_task())
    plain()


def tasks() -> None:
    asyncio.run(both())


def crowded() -> None:
    for number, variable in enumerate(CROWD):
        variable.set(number)
    tasks()


def nested() -> None:
    for _ in range(40):
        with flamewatch.labels(colour="green", shade="dark"):
            with flamewatch.labels(colour="red"):
                red()
            green()
    plain()


def quick() -> None:
    """Change the labels every fifth of a millisecond."""
    for _ in range(1500):
        with flamewatch.labels(colour="red"):
            red(0.00017)
        with flamewatch.labels(colour="green"):
            green(0.00023)
    plain()


def many() -> None:
    """Use more sets of labels than a capture stores."""
    for number in range(600):
        with flamewatch.labels(number=number):
            burn(0.005)


def result_of(kind: ProfileType, work: Callable[[], None]) -> dict[str, object]:
    capture = captured(sampler, kind, work)
    seen: Counter[str] = Counter()
    for stack in capture.stacks:
        names = {frame.function for frame in stack.frames}
        colour = dict(stack.labels).get("colour", "none")
        for name in {"red", "green", "plain"} & names:
            seen[f"{name} as {colour}"] += stack.value
    labels = {dict(stack.labels).get("number") for stack in capture.stacks} - {None}
    return {"seen": seen, "numbers": len(labels), "full": capture.notes.get("labels_full", 0)}


if sys.argv[2] in {"many", "quick"}:
    native_sampler.PERIOD_US = 1000
print(json.dumps(result_of(ProfileType(sys.argv[1]), globals()[sys.argv[2]])))
