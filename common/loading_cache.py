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
    `delete` takes effect at once, also for loads that are running. Exceptions are not cached.
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
        self._fetch = fetch or self._load_in_thread
        self._cache: BoundedCache[K, V] = BoundedCache(size=size, seconds=seconds, clock=clock)
        self._loading: dict[tuple[K, int], asyncio.Task[V]] = {}
        self.get_cached = self._cache.get
        self.put = self._cache.put
        self.delete = self._cache.delete
        self.clear = self._cache.clear

    async def get(self, key: K) -> V:
        """Return the cached value of a key, or load it. Concurrent callers share one load."""
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        # Shielded: a caller that is cancelled must not cancel the load for the others.
        return await asyncio.shield(self._share_load(key))

    def get_blocking(self, key: K) -> V:
        """Return the cached value of a key, or load it in this thread. Blocking."""
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        generation = self._cache.generation
        value = self._load(key)
        self._cache.put(key, value, generation)
        return value

    def _share_load(self, key: K) -> "asyncio.Task[V]":
        """Return the running load of a key, or start one.

        A load that began before the last `delete` or `clear` is not shared.
        """
        key_of_load = (key, self._cache.generation)
        task = self._loading.get(key_of_load)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._fetch_and_put(*key_of_load))
            self._loading[key_of_load] = task
            task.add_done_callback(lambda done: self._end_load(key_of_load, done))
        return task

    async def _fetch_and_put(self, key: K, generation: int) -> V:
        value = await self._fetch(key)
        self._cache.put(key, value, generation)
        return value

    async def _load_in_thread(self, key: K) -> V:
        return await database_pool.run(self._load, key)

    def _end_load(self, key_of_load: tuple[K, int], done: "asyncio.Task[V]") -> None:
        self._loading.pop(key_of_load, None)
        if not done.cancelled():
            # Callers that still wait raise the exception. Retrieving it here keeps asyncio from
            # logging it if none is left.
            done.exception()
