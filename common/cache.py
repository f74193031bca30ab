"""LRU cache with a maximum size, an optional time to live and an optional loader.

Pure functions of their arguments use `functools.lru_cache` instead: their results never expire and
are never deleted.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Generic, NoReturn, TypeVar
from weakref import WeakSet

import cachetools

from common import database_pool

K = TypeVar("K")
V = TypeVar("V")

_all: "WeakSet[Cache[object, object]]" = WeakSet()


class NoValue(LookupError):
    """Raised by loaders for a key that has no value; `max_missing` of these answers are cached."""


class Cache(Generic[K, V]):
    """Thread-safe LRU cache of at most `size` values; a size of 0 turns it off.

    Values expire after `seconds`, or never if it is None. They must not be None.

    `load` reads the value of a key, usually from the database, in a thread of database_pool.
    `fetch` is its asynchronous form, if it has one. Exceptions are not cached, except for up to
    `max_missing` keys without a value (NoValue), for `missing_seconds`. These have room of their
    own: a client that sends random keys must not evict the values of others.

    `seconds` is the time for which changes by other processes may go unnoticed. `delete` and
    `clear` take effect at once, also for loads that are running.
    """

    def __init__(
        self,
        load: Callable[[K], V] | None = None,
        *,
        size: int,
        seconds: float | None = None,
        max_missing: int = 0,
        missing_seconds: float | None = None,
        fetch: Callable[[K], Awaitable[V]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load: Callable[[K], V] = load or _raise_no_loader
        self._fetch = fetch or self._load_in_thread
        self._entries: cachetools.Cache[K, V] = _make_entries(size, seconds, clock)
        self._missing: cachetools.Cache[K, bool] = _make_entries(
            max_missing, missing_seconds, clock
        )
        self._lock = threading.Lock()
        self._loading: dict[tuple[K, int], asyncio.Task[V]] = {}
        # Incremented by every `delete` and `clear`; see `put`.
        self.generation = 0
        _all.add(self)  # type: ignore[arg-type]

    def __len__(self) -> int:
        """Return the number of values, without the keys known to have none."""
        with self._lock:
            return len(self._entries)

    def count_missing(self) -> int:
        """Return the number of keys known to have no value."""
        with self._lock:
            return len(self._missing)

    def get(self, key: K) -> V | None:
        """Return the cached value of a key, or None. Loads nothing."""
        with self._lock:
            try:
                return self._entries[key]
            except KeyError:  # also if it has just expired
                return None

    async def get_or_load(self, key: K) -> V:
        """Return the cached value of a key, or load it. Concurrent callers share one load.

        Raise NoValue for a key without a value, and whatever the loader raises.
        """
        value = self._find(key)
        if value is not None:
            return value
        # Shielded: a caller that is cancelled must not cancel the load for the others.
        return await asyncio.shield(self._share_load(key))

    def get_or_load_blocking(self, key: K) -> V:
        """Return the cached value of a key, or load it in this thread; raise as `get_or_load`."""
        value = self._find(key)
        if value is not None:
            return value
        generation = self.generation
        try:
            value = self._load(key)
        except NoValue:
            self._put_missing(key, generation)
            raise
        self.put(key, value, generation)
        return value

    def put(self, key: K, value: V, generation: int | None = None) -> None:
        """Store a value.

        Pass the `generation` from before the value was read to drop it if any entry was deleted
        since then: the value may be older than the change that caused this.
        """
        with self._lock:
            if self._entries.maxsize and generation in (None, self.generation):
                self._entries[key] = value

    def delete(self, key: K) -> None:
        """Delete what is cached of a key, and invalidate loads that are running; see `put`."""
        with self._lock:
            self.generation += 1
            self._entries.pop(key, None)
            self._missing.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self.generation += 1
            self._entries.clear()
            self._missing.clear()

    def _find(self, key: K) -> V | None:
        """Return the cached value of a key; raise NoValue if it is known to have none."""
        with self._lock:
            try:
                return self._entries[key]
            except KeyError:  # also if it has just expired
                if key in self._missing:
                    raise NoValue(key) from None
                return None

    def _put_missing(self, key: K, generation: int) -> None:
        with self._lock:
            if self._missing.maxsize and generation == self.generation:
                self._missing[key] = True

    def _share_load(self, key: K) -> "asyncio.Task[V]":
        """Return the running load of a key, or start one.

        A load that began before the last `delete` or `clear` is not shared.
        """
        key_of_load = (key, self.generation)
        task = self._loading.get(key_of_load)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._fetch_and_put(*key_of_load))
            self._loading[key_of_load] = task
            task.add_done_callback(lambda done: self._end_load(key_of_load, done))
        return task

    async def _fetch_and_put(self, key: K, generation: int) -> V:
        try:
            value = await self._fetch(key)
        except NoValue:
            self._put_missing(key, generation)
            raise
        self.put(key, value, generation)
        return value

    async def _load_in_thread(self, key: K) -> V:
        return await database_pool.run(self._load, key)

    def _end_load(self, key_of_load: tuple[K, int], done: "asyncio.Task[V]") -> None:
        self._loading.pop(key_of_load, None)
        if not done.cancelled():
            # Callers that still wait raise the exception. Retrieving it here keeps asyncio from
            # logging it if none is left.
            done.exception()


def clear_all() -> None:
    """Clear all caches of this process, for tests that replace the database."""
    for cache in list(_all):
        cache.clear()


def _raise_no_loader(key: object) -> NoReturn:
    raise TypeError("This cache has no loader.")


def _make_entries(
    size: int, seconds: float | None, clock: Callable[[], float]
) -> cachetools.Cache[K, V]:
    if seconds is None:
        return cachetools.LRUCache(size)
    return cachetools.TTLCache(size, seconds, timer=clock)
