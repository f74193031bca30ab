"""Block cache and result cache of queries.

Blocks never change, so cached blocks never expire. The key of a sum over blocks contains the
blocks, so it needs no invalidation: compaction and retention replace blocks by others.
"""

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from math import inf
from typing import Any, Generic, NamedTuple, TypeVar

from cachetools import TLRUCache
from django.conf import settings
from django.utils import timezone

from profiles.engine.blocks import DayBlock, HourBlock
from profiles.queries.plan import QueryPlan
from profiles.queries.selection import Selection
from profiles.storage.block_reader import BlockLocation

CLOSED = timedelta(hours=1)  # this long after a range's end, hardly any more profiles arrive
BYTES_PER_NUMBER = 25  # of a tree's array elements, with its strings
ENTRY_BYTES = 200_000 * BYTES_PER_NUMBER  # of a sum that is worth caching

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
AnyBlock = HourBlock | DayBlock


@dataclass(slots=True)
class CacheStats:
    """Counters of a cache since the process began, and its size now."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0  # for lack of room
    bytes: int = 0
    entries: int = 0


class _Entry(NamedTuple):
    value: Any
    size: int  # bytes
    seconds: float  # time to live


class _Entries(TLRUCache[Hashable, _Entry]):
    """LRU cache with a size and a time to live for each entry, which counts evictions."""

    def __init__(self, most: int) -> None:
        super().__init__(
            maxsize=most,
            ttu=lambda _key, entry, now: now + entry.seconds,
            getsizeof=lambda entry: entry.size,
        )
        self.evictions = 0

    def popitem(self) -> tuple[Hashable, _Entry]:
        self.evictions += 1
        return super().popitem()


class MemoryCache(Generic[K, V]):
    """Thread-safe LRU cache with a total size of about `most` bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries = _Entries(most)
        self._lock = threading.Lock()
        self._hits = self._misses = 0

    def __len__(self) -> int:
        return len(self._entries)

    def has(self, key: K) -> bool:
        with self._lock:
            return key in self._entries

    def get(self, key: K) -> V | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self._misses += 1
                return None
            self._hits += 1
            value: V = entry.value
            return value

    def put(self, key: K, value: V, size: int, seconds: float = inf) -> None:
        """Store a value, also to update its size; drop a value that is larger than the cache."""
        with self._lock:
            self._entries.pop(key, None)
            if size <= self.most:
                self._entries[key] = _Entry(value, size, seconds)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def stats(self) -> CacheStats:
        with self._lock:
            entries = self._entries
            entries.expire()
            return CacheStats(
                self._hits,
                self._misses,
                entries.evictions,
                round(entries.currsize),
                len(entries),
            )


class BlockCache(MemoryCache[BlockLocation, AnyBlock]):
    """Recently used blocks, decoded.

    The cache saves reads and decoding; every query still computes its own sums.
    """

    def put_block(self, location: BlockLocation, block: AnyBlock) -> None:
        """Store a block, also to update its size: more of its sections may have been decoded."""
        # A block of a remote store also holds its raw bytes.
        self.put(location, block, block.size + location.length)


block_cache = BlockCache(settings.KEPT_BLOCK_BYTES)


class ResultKey(NamedTuple):
    """Key of a sum over a selection that is entirely in blocks."""

    selection: Selection
    of: Hashable  # further parameters of the sum
    blocks: tuple[int, ...]  # Block.pk


class ResultCache(MemoryCache[Hashable, Any]):
    """Results of queries: sums over blocks, and for a minute those of pages."""


@cache
def result_cache() -> ResultCache:
    """Return the result cache of this process."""
    return ResultCache(settings.REMEMBERED_ANSWERS * ENTRY_BYTES)


def result_key(plan: QueryPlan, of: Hashable, now: datetime | None = None) -> ResultKey | None:
    """Return the cache key of a sum; None if the sum may change or caching is switched off."""
    if not settings.REMEMBERED_ANSWERS:
        return None
    if plan.selection.end > (now or timezone.now()) - CLOSED:
        return None
    if not plan.is_in_blocks and plan.head.exists():  # head rows may change
        return None
    return ResultKey(plan.selection, of, tuple(row.pk for row in plan.blocks))


def cached_sum(key: ResultKey | None) -> Any | None:
    """Return the cached sum, or None."""
    return None if key is None else result_cache().get(key)


def cache_sum(key: ResultKey | None, value: object, numbers: int, *, is_readable: bool) -> None:
    """Store a sum of `numbers` array elements, unless it is large.

    A sum that lacks unreadable profiles is not stored: they may be readable later.
    """
    size = numbers * BYTES_PER_NUMBER
    if key is not None and size <= ENTRY_BYTES and is_readable:
        result_cache().put(key, value, size)
