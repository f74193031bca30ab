"""LRU cache with a maximum size and an optional time to live."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakSet

K = TypeVar("K")
V = TypeVar("V")

_all: "WeakSet[BoundedCache[object, object]]" = WeakSet()


class BoundedCache(Generic[K, V]):
    """Thread-safe LRU cache of at most `size` entries.

    Entries expire after `seconds`, or never if it is None. Values must not be None.
    """

    def __init__(
        self,
        *,
        size: int,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._size, self._seconds, self._clock = size, seconds, clock
        self._kept: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._lock = threading.Lock()
        # Incremented by every `forget` and `clear`; see `keep`.
        self.generation = 0
        _all.add(self)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._kept)

    def peek(self, key: K) -> V | None:
        """Return the value of a key, or None if it is missing or has expired."""
        with self._lock:
            found = self._kept.get(key)
            if found is None or (self._seconds is not None and self._clock() >= found[0]):
                return None
            self._kept.move_to_end(key)
            return found[1]

    def keep(self, key: K, value: V, generation: int | None = None) -> None:
        """Store a value.

        Pass the `generation` from before the value was read to drop it if any entry was forgotten
        since then: the value may be older than the change that caused this.
        """
        with self._lock:
            if generation is not None and generation != self.generation:
                return
            until = 0.0 if self._seconds is None else self._clock() + self._seconds
            self._kept[key] = (until, value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def forget(self, key: K) -> None:
        """Delete the value of a key, and invalidate reads that are running; see `keep`."""
        with self._lock:
            self.generation += 1
            self._kept.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self.generation += 1
            self._kept.clear()


def clear_all() -> None:
    """Clear all caches of this process, for tests that replace the database."""
    for cache in list(_all):
        cache.clear()
