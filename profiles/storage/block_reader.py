"""Read the bytes of blocks from the blobs that they are packed in.

Blocks are immutable, so blocks of a remote store are cached in memory without invalidation.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from functools import partial

from common.thread_pool import ThreadPool
from profiles.engine.blocks.sections.container import Source
from profiles.models import Block
from profiles.storage.blob_deadline import seconds_left
from profiles.storage.blobs import BlobDeadlinePassed, BlobError, blobs

logger = logging.getLogger(__name__)

KEPT_BYTES = 64 * 2**20
AT_ONCE = 8  # concurrent requests to a remote store
AHEAD = 16  # blocks that are prefetched from a remote store
# Concurrent file reads under a deadline: a file system that hangs blocks at most so many threads.
NEAR_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class BlockLocation:
    """Position of a block within a blob."""

    key: str  # of the blob
    offset: int  # bytes
    length: int  # bytes


def location_of(row: Block) -> BlockLocation:
    """Return the location of a block.

    Select `row.blob` with the row; otherwise this costs one query.
    """
    return BlockLocation(row.blob.key, row.offset, row.length)


def read(place: BlockLocation) -> bytes:
    """Read all bytes of a block, without cache or deadline. Raise BlobError."""
    return blobs().get(place.key, place.offset, place.length)


def sources(
    places: Iterable[BlockLocation],
    is_known: Callable[[BlockLocation], bool] = lambda _place: False,
) -> Iterator[Source]:
    """Yield a source for each block, in the order of `places`.

    Up to AHEAD blocks of a remote store are prefetched, except those that `is_known` reports as
    decoded already: these are fetched when their source is read. The sources raise BlobError,
    and BlobDeadlinePassed after the deadline of `blob_deadline`.
    """
    if not blobs().is_remote:
        yield from map(_near, places)
        return
    rest = iter(places)
    waiting: list[_RemoteBlock] = []
    while True:
        while len(waiting) < AHEAD and (place := next(rest, None)) is not None:
            waiting.append(_RemoteBlock(place, begin=not is_known(place)))
        if not waiting:
            return
        yield waiting.pop(0).read


def _near(place: BlockLocation) -> Source:
    """Return a source that reads only the requested sections from the local store."""
    store = blobs()

    def source(at: int, length: int) -> bytes:
        length = max(0, min(length, place.length - at))
        return _in_time(place, partial(store.get, place.key, place.offset + at, length))

    return source


def _in_time(place: BlockLocation, read: Callable[[], bytes]) -> bytes:
    """Run a file read, in another thread if there is a deadline: a file read cannot be cancelled.

    Raise BlobDeadlinePassed.
    """
    return read() if seconds_left() is None else _waited(place, _readers.submit(read))


class _RemoteBlock:
    """Block of a remote store, fetched whole by a thread of the pool."""

    def __init__(self, place: BlockLocation, *, begin: bool) -> None:
        self._place = place
        self._data = self._begun() if begin else None

    def read(self, at: int, length: int) -> memoryview:
        data = self._data = self._data or self._begun()
        try:
            whole = data if isinstance(data, bytes) else _waited(self._place, data)
        except BlobError:
            self._data = None  # a later read fetches the block again
            raise
        return memoryview(whole)[at : at + length]

    def _begun(self) -> Future[bytes] | bytes:
        """Return the cached bytes of the block, or start to fetch them."""
        return _kept.get(self._place) or _pool.submit(partial(_fetch, self._place))


def _waited(place: BlockLocation, data: Future[bytes]) -> bytes:
    """Wait for a read until the deadline. Raise BlobDeadlinePassed."""
    try:
        return data.result(seconds_left())
    except TooLate:
        data.cancel()  # a read that has not started leaves the queue; a running one goes on
        logger.warning("Blob %s did not come in time.", place.key)
        raise BlobDeadlinePassed(f"Blob {place.key} did not come in time.") from None


def _fetch(place: BlockLocation) -> bytes:
    """Read a block and add it to the cache."""
    data = read(place)
    _kept.put(place, data)
    return data


class _ByteCache:
    """Thread-safe LRU cache of whole blocks as stored, of at most KEPT_BYTES."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._data: OrderedDict[BlockLocation, bytes] = OrderedDict()
        self._size = 0

    def get(self, place: BlockLocation) -> bytes | None:
        with self._lock:
            data = self._data.get(place)
            if data is not None:
                self._data.move_to_end(place)
            return data

    def put(self, place: BlockLocation, data: bytes) -> None:
        with self._lock:
            if place not in self._data:
                self._data[place] = data
                self._size += len(data)
            while self._size > KEPT_BYTES:
                self._size -= len(self._data.popitem(last=False)[1])


_kept = _ByteCache()
_pool = ThreadPool("block-reader", AT_ONCE)
_readers = ThreadPool("file-reader", NEAR_AT_ONCE)
