"""Block cache and result cache of queries.

Blocks never change, so cached blocks never expire. The key of a sum over blocks contains the
blocks, so it needs no invalidation: compaction and retention replace blocks by others. The results
of a page are cached for a minute, for the requests that follow it.

These are not `common.cache.Cache`, whose size is a number of entries: theirs is in bytes. They
also count hits and evictions, have a lifetime for each entry, and share results through Redis.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cache, partial
from math import ceil, inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import redis
from cachetools import LRUCache, TLRUCache
from django.conf import settings
from redis.exceptions import RedisError

from common.outages import Dependency, count_failure
from common.repeated_log import repeated_log
from profiles.engine.blocks import DayBlock, HourBlock
from profiles.engine.blocks.sections.decoded_columns import ColumnStore
from profiles.queries import result_codec
from profiles.storage.blob_store import BlockLocation
from profiles.storage.column_files import BlockColumns, ColumnFiles, column_files

TREE_NUMBER_BYTES = 25  # of a tree's array elements, with its strings
MAX_SUM_BYTES = 200_000 * TREE_NUMBER_BYTES  # of the largest sum that is cached
SUM_LIFETIME_SECONDS = 3600.0
PAGE_LIFETIME_SECONDS = 60.0
MIN_ENTRIES = 4  # that fit into the cache: none has more than a quarter of its bytes
PRIVATE_BLOCK_BYTES = 32 * 2**20  # of cached blocks in each process, beside the shared columns
REDIS_PREFIX = f"flamewatch:result:{result_codec.VERSION}:"
REDIS_TIMEOUT_SECONDS = 0.5  # for one command
REDIS_PAUSE_SECONDS = 5.0  # after a failure

logger = logging.getLogger(__name__)

T = TypeVar("T")
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
    errors: int = 0  # failures of Redis, each of which is a miss


class _Entry(NamedTuple):
    value: Any
    size: int  # bytes
    seconds: float  # time to live


class _CountedEvictions:
    """Mixin for caches of cachetools."""

    evictions = 0

    def popitem(self) -> Any:
        self.evictions += 1
        return super().popitem()  # type: ignore[misc]


class _Entries(_CountedEvictions, LRUCache[Hashable, _Entry]):
    pass


class _ExpiringEntries(_CountedEvictions, TLRUCache[Hashable, _Entry]):
    """LRU cache with a time to live for each entry: an access takes about 10 µs longer."""


class MemoryCache(Generic[K, V]):
    """Thread-safe LRU cache with a total size of about `most` bytes."""

    def __init__(self, most: int, *, expires: bool = True) -> None:
        """Create the cache; without `expires`, it ignores the times to live of entries."""
        self.most = most
        self._entries: _Entries | _ExpiringEntries = (
            _ExpiringEntries(
                most, lambda _key, entry, now: now + entry.seconds, getsizeof=_get_size
            )
            if expires
            else _Entries(most, getsizeof=_get_size)
        )
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
            self._put(key, _Entry(value, size, seconds))

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def stats(self) -> CacheStats:
        with self._lock:
            entries = self._entries
            if isinstance(entries, _ExpiringEntries):
                entries.expire()
            return CacheStats(
                self._hits,
                self._misses,
                entries.evictions,
                round(entries.currsize),
                len(entries),
            )

    def _put(self, key: K, entry: _Entry) -> None:
        """Store an entry as `put` does; the caller holds the lock."""
        self._entries.pop(key, None)
        if entry.size <= self.most:
            self._entries[key] = entry


def _get_size(entry: _Entry) -> int:
    return entry.size


class BlockCache(MemoryCache[BlockLocation, AnyBlock]):
    """Recently used blocks, decoded: their columns in files, the rest in this process's memory.

    The cache saves reads and decoding; every query still computes its own sums.
    """

    def __init__(self, most: int, files: ColumnFiles | None = None) -> None:
        """`most` limits the bytes in memory of this process."""
        super().__init__(most, expires=False)
        self.files = files

    def has_columns(self, location: BlockLocation) -> bool:
        """Return True if a query of the block probably reads none of its bytes."""
        return self.has(location) or (self.files is not None and self.files.has(location))

    def get_block(self, location: BlockLocation) -> AnyBlock | None:
        block = self.get(location)
        if block is not None and isinstance(block.store, BlockColumns):
            block.store.begin_query()
        return block

    def get_store(self, location: BlockLocation) -> ColumnStore | None:
        return self.files.open_block(location) if self.files else None

    def put_block(self, location: BlockLocation, block: AnyBlock) -> None:
        """Store a block, also to update its size: more of its sections may have been decoded."""
        if self.files:
            block = block.copy_without_bytes()
            size = block.size
        else:  # a block of a remote store also has its raw bytes
            size = block.size + location.length
        with self._lock:
            stored = self._entries.get(location)
            if stored is None or stored.size != size:  # else nothing more was decoded
                self._put(location, _Entry(block, size, inf))
        if isinstance(block.store, BlockColumns):
            block.store.write_later(partial(self._drop, location))

    def _drop(self, location: BlockLocation) -> None:
        """Drop a block, whose next query maps the columns that are in a file now."""
        with self._lock:
            self._entries.pop(location, None)


def open_block_cache() -> BlockCache:
    """Return a cache as settings.BLOCK_CACHE_BYTES says: its columns take so much of the disk."""
    return BlockCache(min(settings.BLOCK_CACHE_BYTES, PRIVATE_BLOCK_BYTES), column_files())


block_cache = open_block_cache()


class ResultCache(Protocol):
    """Results of queries, by keys that `result_codec.digest` accepts. Do not modify results."""

    def get(self, key: Hashable) -> Any | None: ...

    def put(self, key: Hashable, value: object, size: int, seconds: float) -> None:
        """Store a value of about `size` bytes for some seconds."""

    def clear(self) -> None: ...

    def stats(self) -> CacheStats: ...


class RedisCache:
    """Result cache in Redis, shared by all processes; implements ResultCache.

    A failure of Redis is a miss: it is counted, and the next seconds do without Redis.
    """

    def __init__(self, url: str, most: int) -> None:
        self._redis = redis.Redis.from_url(
            url,
            socket_timeout=REDIS_TIMEOUT_SECONDS,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
        )
        self._max_entry_bytes = most // MIN_ENTRIES
        self._lock = threading.Lock()
        self._stats = CacheStats()
        self._paused_until = 0.0  # time.monotonic() at which Redis is asked again

    def get(self, key: Hashable) -> Any | None:
        value = None
        data: Any = self._call(self._redis.get, key)
        if data is not None:
            try:
                value = result_codec.decode(data)
            except result_codec.UnknownFormat as error:
                self._note_failure(error)
        with self._lock:
            if value is None:
                self._stats.misses += 1
            else:
                self._stats.hits += 1
        return value

    def put(self, key: Hashable, value: object, size: int, seconds: float) -> None:
        if size > self._max_entry_bytes:
            return
        try:
            data = result_codec.encode(value)
        except result_codec.UnknownFormat as error:
            self._note_failure(error)
            return
        if len(data) <= self._max_entry_bytes:
            self._call(lambda name: self._redis.set(name, data, ex=ceil(seconds)), key)

    def clear(self) -> None:
        for name in self._redis.scan_iter(f"{REDIS_PREFIX}*"):
            self._redis.delete(name)

    def stats(self) -> CacheStats:
        """Return this process's counters. Entries and bytes are Redis's own to report."""
        with self._lock:
            return replace(self._stats)

    def _call(self, command: Callable[[str], T], key: Hashable) -> T | None:
        if time.monotonic() < self._paused_until:
            return None
        try:
            return command(REDIS_PREFIX + result_codec.digest(key))
        except RedisError as error:
            self._paused_until = time.monotonic() + REDIS_PAUSE_SECONDS
            count_failure(Dependency.REDIS)
            self._note_failure(error)
            return None

    def _note_failure(self, error: Exception) -> None:
        message = "The result cache in Redis failed; queries continue without it: %s"
        repeated_log.warn(logger, message, error)
        with self._lock:
            self._stats.errors += 1


@cache
def _memory_cache(most: int) -> MemoryCache[Hashable, Any]:
    return MemoryCache(most)


@cache
def _redis_cache(url: str, most: int) -> RedisCache:
    return RedisCache(url, most)


def result_cache() -> ResultCache:
    """Return the result cache: in Redis if settings.REDIS_URL is set, else of this process."""
    most = settings.RESULT_CACHE_BYTES
    return _redis_cache(settings.REDIS_URL, most) if settings.REDIS_URL else _memory_cache(most)


def find_sum(plan: Hashable | None, parameters: Hashable) -> Any | None:
    """Return the cached sum over a plan, or None.

    `plan` is its QueryPlan.result_key; `parameters` are the other ones of the sum.
    """
    if plan is None or not settings.RESULT_CACHE_BYTES:
        return None
    return result_cache().get((plan, parameters))


def store_sum(
    plan: Hashable | None, parameters: Hashable, value: object, numbers: int, *, is_readable: bool
) -> None:
    """Store a sum of `numbers` array elements for `find_sum`, unless it is large.

    A sum that lacks unreadable profiles is not stored: they may be readable later.
    """
    size = numbers * TREE_NUMBER_BYTES
    is_cached = plan is not None and settings.RESULT_CACHE_BYTES and size <= MAX_SUM_BYTES
    if is_cached and is_readable:
        result_cache().put((plan, parameters), value, size, SUM_LIFETIME_SECONDS)


def get_cached_page(project: int, address: str) -> Any | None:
    """Return the results of a page that was rendered in the last minute, or None."""
    if not settings.RESULT_CACHE_BYTES:
        return None
    return result_cache().get(("page", project, address))


def cache_page(project: int, address: str, results: object, numbers: int) -> None:
    """Store a page's results for the requests that follow it: for its graph, and further rows."""
    if settings.RESULT_CACHE_BYTES:
        size = numbers * TREE_NUMBER_BYTES
        result_cache().put(("page", project, address), results, size, PAGE_LIFETIME_SECONDS)


def cache_stats() -> dict[str, CacheStats]:
    """Return the counters of this process's caches, by name."""
    caches = {"block": block_cache.stats(), "result": result_cache().stats()}
    if block_cache.files:
        caches["columns"] = CacheStats(*block_cache.files.counts())
    return caches
