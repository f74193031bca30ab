"""A dictionary that forgets: the oldest beyond a size, and all after some seconds."""

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
    """For any thread. `seconds` None: for ever. A value is never None."""

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
        # Moves with everything that is forgotten, see `keep`.
        self.generation = 0
        _all.add(self)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._kept)

    def peek(self, key: K) -> V | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None or (self._seconds is not None and self._clock() >= found[0]):
                return None
            self._kept.move_to_end(key)
            return found[1]

    def keep(self, key: K, value: V, generation: int | None = None) -> None:
        """With the generation of before a value was read: not if something was forgotten since,
        for then the value may be from before the change."""
        with self._lock:
            if generation is not None and generation != self.generation:
                return
            until = 0.0 if self._seconds is None else self._clock() + self._seconds
            self._kept[key] = (until, value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def forget(self, key: K) -> None:
        with self._lock:
            self.generation += 1
            self._kept.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self.generation += 1
            self._kept.clear()


def clear_all() -> None:
    """Empty the caches of this process: for tests, whose databases come and go."""
    for cache in list(_all):
        cache.clear()
