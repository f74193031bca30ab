"""Cache of database values that loads each missing key once for all concurrent callers."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from common import database_pool
from common.bounded_cache import BoundedCache

K = TypeVar("K")
V = TypeVar("V")


class LoadingCache(Generic[K, V]):
    """BoundedCache in front of `load`, which reads the database.

    `fetch` is the asynchronous form of `load` (None: `load` in a thread of database_pool).
    `seconds` is the time for which changes by other processes may go unnoticed (None: forever).
    `forget` takes effect at once, also for loads that are running. Exceptions are not cached.
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
        """Return the cached value of a key, or load it. Concurrent callers share one load."""
        kept = self._cache.peek(key)
        if kept is not None:
            return kept
        # Shielded: a caller that is cancelled must not cancel the load for the others.
        return await asyncio.shield(self._flight(key))

    def get_now(self, key: K) -> V:
        """Return the cached value of a key, or load it in this thread. Blocking."""
        kept = self._cache.peek(key)
        if kept is not None:
            return kept
        generation = self._cache.generation
        value = self._load(key)
        self._cache.keep(key, value, generation)
        return value

    def _flight(self, key: K) -> "asyncio.Task[V]":
        """Return the running load of a key, or start one.

        A load that began before the last `forget` or `clear` is not shared.
        """
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
            # Callers that still wait raise the exception. Retrieving it here keeps asyncio from
            # logging it if none is left.
            done.exception()
