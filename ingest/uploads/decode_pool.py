"""Few named threads for the digest.

The digest releases the GIL; on the event loop it would keep thousands of agents from waking.
Large profiles queue for a thread of their own, where those that are digested in a millisecond do
not wait for them.
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

# One on two cores takes a tenth less CPU time for small profiles, but a third fewer large ones.
THREADS = max(2, min(8, os.cpu_count() or 2))
LARGE_BYTES = 2**19  # as they are sent
LARGE_RAW_BYTES = 8 * 2**20  # as they are unpacked

Work = Callable[[], None]
T = TypeVar("T")


class Pool:
    """Threads that start with the first work. An executor would make a future, with a lock and a
    condition, for each: nobody waits for those here."""

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
            del work  # it may hold a profile, and the next may be long in coming


_digests = Pool("flamewatch-digest", THREADS)
_large_digests = Pool("flamewatch-large-digest", 1)


def submit(work: Work, size: int) -> None:
    """Have a profile of so many bytes digested; `work` raises nothing, for nobody waits for it
    here."""
    (_digests if size < LARGE_BYTES else _large_digests).submit(work)


def submit_large(work: Work) -> None:
    """The same for a profile that turned out to be large when it was unpacked."""
    _large_digests.submit(work)


async def run(function: Callable[[], T], size: int) -> T:
    """Call a function for a body of so many bytes in one of these threads; raise what it raises."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def work() -> None:
        if outcome.done():  # nobody waits for it any more
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
