"""LRU cache with a maximum size and an optional time to live: `cachetools`, with a lock."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakSet

from cachetools import Cache, LRUCache, TTLCache

K = TypeVar("K")
V = TypeVar("V")

_all: "WeakSet[BoundedCache[object, object]]" = WeakSet()


class BoundedCache(Generic[K, V]):
    """Thread-safe LRU cache of at most `size` entries; a size of 0 turns it off.

    Entries expire after `seconds`, or never if it is None. Values must not be None.
    """

    def __init__(
        self,
        *,
        size: int,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._size = size
        self._entries: Cache[K, V] = (
            LRUCache(size) if seconds is None else TTLCache(size, seconds, timer=clock)
        )
        self._lock = threading.Lock()
        # Incremented by every `delete` and `clear`; see `put`.
        self.generation = 0
        _all.add(self)  # type: ignore[arg-type]

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None if it is missing or has expired."""
        with self._lock:
            try:
                return self._entries[key]
            except KeyError:
                return None

    def put(self, key: K, value: V, generation: int | None = None) -> None:
        """Store a value.

        Pass the `generation` from before the value was read to drop it if any entry was deleted
        since then: the value may be older than the change that caused this.
        """
        with self._lock:
            if self._size and generation in (None, self.generation):
                self._entries[key] = value

    def delete(self, key: K) -> None:
        """Delete the value of a key, and invalidate reads that are running; see `put`."""
        with self._lock:
            self.generation += 1
            self._entries.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self.generation += 1
            self._entries.clear()


def clear_all() -> None:
    """Clear all caches of this process, for tests that replace the database."""
    for cache in list(_all):
        cache.clear()
