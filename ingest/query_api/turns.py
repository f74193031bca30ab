"""Turns: queries run in threads of their own, a few of each key at once, and not for ever.

A long merge must neither keep agents waiting for a thread, nor one tenant's many merges keep
another's waiting.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from threading import Event
from typing import TypeVar

from django.conf import settings

from ingest.errors import QueryTooSlow
from profiles.query import DeadlinePassed, abandoned_when, answering
from projects.sync_pool import SyncPool

T = TypeVar("T")

THREADS = 4
MOST_WAITING = 256  # for a thread
AT_ONCE = 2  # of one key; its others wait for these

_threads = SyncPool("flamewatch-query", THREADS, MOST_WAITING)


class Turns:
    """Who may ask now. For one event loop at a time."""

    def __init__(self) -> None:
        self._of_key: dict[int, asyncio.Semaphore] = {}
        self._asking: dict[int, int] = {}

    async def run(self, key: int, work: Callable[[float], T]) -> T:
        """What `work` answers within the deadline that it gets, a moment of time.monotonic().

        QueryTooSlow after it. Where the one who awaits is cancelled, the work stops at its next
        look at the clock.
        """
        seconds = settings.QUERY_SECONDS
        deadline = time.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                begun = await self._begin(key)
                return await _in_thread(partial(_within, deadline, work), begun)
        except (TimeoutError, DeadlinePassed) as late:
            raise QueryTooSlow(seconds, str(late)) from None

    async def _begin(self, key: int) -> Callable[[], None]:
        """A turn of the key, which ends when what is returned is called."""
        turns = self._of_key.setdefault(key, asyncio.Semaphore(AT_ONCE))
        self._asking[key] = self._asking.get(key, 0) + 1
        try:
            await turns.acquire()
        except BaseException:
            self._leave(key)
            raise
        return partial(self._end, key, turns)

    def _end(self, key: int, turns: asyncio.Semaphore) -> None:
        turns.release()
        self._leave(key)

    def _leave(self, key: int) -> None:
        self._asking[key] -= 1
        if not self._asking[key]:
            del self._asking[key], self._of_key[key]


def _within(deadline: float, work: Callable[[float], T]) -> T:
    """Also what is done with an answer, such as writing it down, has to be done by then."""
    with answering(deadline):
        return work(deadline)


async def _in_thread(work: Callable[[], T], release: Callable[[], None]) -> T:
    """The turn lasts as long as the thread works, also where nobody awaits it any more."""
    loop, gone = asyncio.get_running_loop(), Event()

    def done(_future: Future[T]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(release)

    def until_gone() -> T:
        with abandoned_when(gone):
            return work()

    try:
        future = _threads.submit(until_gone)
    except BaseException:
        release()
        raise
    future.add_done_callback(done)
    try:
        return await asyncio.wrap_future(future)
    finally:
        gone.set()


turns = Turns()
