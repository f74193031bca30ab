"""What the database says, kept for a while: one query for all who ask at the same time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from common import database_pool
from common.bounded_cache import BoundedCache

K = TypeVar("K")
V = TypeVar("V")


class LoadingCache(Generic[K, V]):
    """A bounded cache in front of `load`, which reads the database.

    `fetch` does the same for asynchronous code (None: `load` in a thread of the pool). `seconds`
    is how long another process's change may go unnoticed (None: for ever); `forget` is at once,
    also for a load that is under way. What `load` raises is not kept.
    """

    def __init__(
        self,
        load: Callable[[K], V],
        *,
        size: int,
        seconds: float | None = None,
        fetch: Callable[[K], Awaitable[V]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._fetch = fetch or self._in_a_thread
        self._cache: BoundedCache[K, V] = BoundedCache(size=size, seconds=seconds, clock=clock)
        self._loading: dict[tuple[K, int], asyncio.Task[V]] = {}
        self.peek = self._cache.peek
        self.keep = self._cache.keep
        self.forget = self._cache.forget
        self.clear = self._cache.clear

    async def get(self, key: K) -> V:
        kept = self._cache.peek(key)
        if kept is not None:
            return kept
        # Others may wait for the same: one who gives up must not end it for them.
        return await asyncio.shield(self._flight(key))

    def get_now(self, key: K) -> V:
        """The same for code that may block."""
        kept = self._cache.peek(key)
        if kept is not None:
            return kept
        generation = self._cache.generation
        value = self._load(key)
        self._cache.keep(key, value, generation)
        return value

    def _flight(self, key: K) -> "asyncio.Task[V]":
        """Who asks after a `forget` gets a load that began after it."""
        flight = (key, self._cache.generation)
        task = self._loading.get(flight)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._fetch_and_keep(*flight))
            self._loading[flight] = task
            task.add_done_callback(lambda done: self._land(flight, done))
        return task

    async def _fetch_and_keep(self, key: K, generation: int) -> V:
        value = await self._fetch(key)
        self._cache.keep(key, value, generation)
        return value

    async def _in_a_thread(self, key: K) -> V:
        return await database_pool.run(self._load, key)

    def _land(self, flight: tuple[K, int], done: "asyncio.Task[V]") -> None:
        self._loading.pop(flight, None)
        if not done.cancelled():
            done.exception()  # whoever still waits raises it; with nobody left it is no news
