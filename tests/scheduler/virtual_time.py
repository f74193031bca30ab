"""Event loop whose clock jumps to the next timer, so that hours pass in an instant."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

START = 1_800_000_000.0  # Unix time of a whole minute


class _JumpingSelector(selectors.SelectSelector):
    now = START

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("Everybody waits, and no timer is set: nothing will ever happen.")
        # Slightly beyond, because a timer that is due at exactly this time would not run yet.
        self.now += max(0.0, timeout) + 1e-6
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = _JumpingSelector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.now


def clock() -> float:
    """Return the time of the running loop, in seconds since the epoch."""
    return asyncio.get_running_loop().time()


def run(main: Coroutine[Any, Any, T]) -> T:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
