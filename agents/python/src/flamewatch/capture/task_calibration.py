"""Calibration of the C sampler for asyncio: example tasks show where fields are stored."""

import sys
from collections.abc import Callable, Generator
from contextvars import Context
from typing import Any

_NAME = "flamewatch example"


def learn(native: Any, asyncio: Any) -> str | None:
    """Calibrate the sampler. Return the reason why tasks cannot be read here, or None.

    `asyncio` is the host's module. Call this in a thread that runs no event loop. The example tasks
    are removed afterwards.
    """
    events, tasks = asyncio.events, asyncio.tasks
    if tasks.Task.__module__ != "_asyncio":
        return "asyncio.Task is not the interpreter's own"
    loop = _Loop()
    inner = _waits()
    outer = _awaits(inner)
    awaited = tasks.Task(outer, loop=loop, name=_NAME)
    waiting = tasks.Task(_awaits(awaited), loop=loop)
    events._set_running_loop(loop)
    try:
        loop.run_once()
        tasks._enter_task(loop, awaited)
        try:
            current = None if sys.version_info >= (3, 14) else tasks._current_tasks
            reason: str | None = native.read_tasks_of(
                awaited, waiting, outer, inner, _NAME, current
            )
        finally:
            tasks._leave_task(loop, awaited)
    finally:
        events._set_running_loop(None)
        for task in (waiting, awaited):
            task._log_destroy_pending = False
            task.get_coro().close()
    return reason


class _Loop:
    """Minimal event loop that can run one step of each of two tasks."""

    def __init__(self) -> None:
        self._calls: list[tuple[Callable[..., object], tuple[object, ...], Context | None]] = []

    def call_soon(
        self, call: Callable[..., object], *args: object, context: Context | None = None
    ) -> None:
        self._calls.append((call, args, context))

    def run_once(self) -> None:
        calls, self._calls = self._calls, []
        for call, args, context in calls:
            (context or Context()).run(call, *args)

    def get_debug(self) -> bool:
        return False


class _Never:
    def __await__(self) -> Generator[None]:
        yield


async def _waits() -> None:
    await _Never()


async def _awaits(awaitable: Any) -> None:
    await awaitable
