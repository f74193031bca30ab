"""Small pools of named threads that decode profiles.

Decoding releases the GIL. On the event loop it would delay the long polls of thousands of agents.
Large profiles have a thread of their own, so that small profiles, which are decoded within a
millisecond, do not queue behind them.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

log = logging.getLogger(__name__)

# At least 2: on two cores a single thread takes 10 % less CPU time for small profiles, but decodes
# a third fewer large ones.
THREADS = max(2, min(8, os.cpu_count() or 2))
LARGE_BYTES = 2**19  # size of the body as it is sent
LARGE_RAW_BYTES = 8 * 2**20  # size of the profile after gunzip

Work = Callable[[], None]
T = TypeVar("T")


class Pool:
    """Fixed number of daemon threads, started with the first work item.

    Not a ThreadPoolExecutor: it creates a Future, with a lock and a condition, for each work item,
    and no caller waits for those.
    """

    def __init__(self, name: str, threads: int) -> None:
        self._name = name
        self._work: SimpleQueue[Work] = SimpleQueue()
        self._count = threads
        self._start = threading.Lock()
        self._is_started = False

    def submit(self, work: Work) -> None:
        self._work.put(work)
        if not self._is_started:
            self._start_once()

    def _start_once(self) -> None:
        with self._start:
            missing, self._is_started = 0 if self._is_started else self._count, True
        for number in range(missing):
            name = f"{self._name}_{number}"
            threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        while True:
            work = self._work.get()
            try:
                work()
            except Exception:
                log.exception("Work that was to raise nothing did.")
            del work  # `work` may refer to a profile, and the next item may arrive much later


_digests = Pool("flamewatch-digest", THREADS)
_large_digests = Pool("flamewatch-large-digest", 1)


def submit(work: Work, size: int) -> None:
    """Queue `work`, which decodes a profile of `size` bytes.

    `work` has to handle its own exceptions: no caller waits for it here.
    """
    (_digests if size < LARGE_BYTES else _large_digests).submit(work)


def submit_large(work: Work) -> None:
    """Queue `work` for a profile whose unpacked size turned out to be large."""
    _large_digests.submit(work)


async def run(function: Callable[[], T], size: int) -> T:
    """Call `function` for a body of `size` bytes in a decode thread; return its result."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def work() -> None:
        if outcome.done():  # the caller was cancelled
            return
        try:
            result = function()
        except Exception as error:
            _call(loop, partial(_settle_error, outcome, error))
        else:
            _call(loop, partial(_settle, outcome, result))

    submit(work, size)
    return await outcome


def _call(loop: asyncio.AbstractEventLoop, settle: Work) -> None:
    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        log.debug("The event loop of a request was closed before its body was read.")


def _settle(outcome: "asyncio.Future[T]", result: T) -> None:
    if not outcome.done():
        outcome.set_result(result)


def _settle_error(outcome: "asyncio.Future[T]", error: Exception) -> None:
    if not outcome.done():
        outcome.set_exception(error)
