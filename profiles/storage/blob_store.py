"""Configured blob store, and reads of the blocks that are packed in its blobs.

A deadline is a value of time.monotonic(); None waits for as long as the store does.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from functools import partial
from itertools import islice
from typing import NamedTuple

from django.conf import settings

from common.outages import Dependency, note_failure
from common.thread_pool import ThreadPool
from profiles.engine.blocks.sections.container import Source
from profiles.models import Block
from profiles.storage.blobs import BlobDeadlinePassed, BlobError, BlobStore, open_store

logger = logging.getLogger(__name__)

AT_ONCE = 8  # concurrent requests to a remote store
AHEAD = 16  # blocks that are prefetched from a remote store
# Concurrent file reads under a deadline: a file system that hangs blocks at most so many threads.
NEAR_AT_ONCE = 16
# A read gives up this long before the deadline itself, so that the query can still report the blob
# as the reason.
SPARE_SECONDS = 0.25


def blobs() -> BlobStore:
    """Return the store that BLOB_URL configures."""
    return open_store(settings.BLOB_URL)


class BlockLocation(NamedTuple):
    """Position of a block within a blob."""

    key: str  # of the blob
    offset: int  # bytes
    length: int  # bytes


def get_location(row: Block) -> BlockLocation:
    """Return the location of a block.

    Select `row.blob` with the row; otherwise this costs one query.
    """
    return BlockLocation(row.blob.key, row.offset, row.length)


def read(location: BlockLocation) -> bytes:
    """Read all bytes of a block, without a deadline. Raise BlobError."""
    return blobs().get(location.key, location.offset, location.length)


def section_source(location: BlockLocation) -> Source:
    """Return a source that reads only the requested sections, also from a remote store.

    It has no deadline, and raises BlobError.
    """
    return _local_source(blobs(), location, deadline=None)


def sources(
    locations: Iterable[BlockLocation],
    deadline: float | None = None,
    is_cached: Callable[[BlockLocation], bool] = lambda _location: False,
) -> Iterator[Source]:
    """Yield a source for each block, in the order of `locations`.

    A source of a local store reads only the requested sections. Blocks of a remote store are
    fetched whole, up to AHEAD of them in advance, except those that `is_cached` reports as
    decoded already: these are fetched when their source is read. The sources raise BlobError,
    and BlobDeadlinePassed after the deadline.
    """
    store = blobs()
    if not store.is_remote:
        for location in locations:
            yield _local_source(store, location, deadline)
        return
    rest = iter(locations)
    ahead: list[_RemoteBlock] = []
    while True:
        for location in islice(rest, AHEAD - len(ahead)):
            ahead.append(_RemoteBlock(location, deadline, begin=not is_cached(location)))
        if not ahead:
            return
        yield ahead.pop(0).read


def is_remote() -> bool:
    """Return True if sources hold the whole block in memory once they have been read."""
    return blobs().is_remote


def _local_source(store: BlobStore, location: BlockLocation, deadline: float | None) -> Source:
    """Return a source that reads in another thread if there is a deadline.

    A file read cannot be cancelled.
    """

    def source(offset: int, length: int) -> bytes:
        length = max(0, min(length, location.length - offset))
        read = partial(store.get, location.key, location.offset + offset, length)
        return read() if deadline is None else _wait(location, _readers.submit(read), deadline)

    return source


class _RemoteBlock:
    """Block of a remote store, fetched whole by a thread of the pool."""

    def __init__(self, location: BlockLocation, deadline: float | None, *, begin: bool) -> None:
        self._location = location
        self._deadline = deadline
        self._data = self._fetch() if begin else None

    def read(self, offset: int, length: int) -> memoryview:
        data = self._data = self._data or self._fetch()
        try:
            whole = _wait(self._location, data, self._deadline)
        except BlobError:
            self._data = None  # a later read fetches the block again
            raise
        return memoryview(whole)[offset : offset + length]

    def _fetch(self) -> Future[bytes]:
        return _pool.submit(partial(read, self._location))


def _wait(location: BlockLocation, data: Future[bytes], deadline: float | None) -> bytes:
    """Wait for a read until the deadline. Raise BlobDeadlinePassed."""
    try:
        return data.result(_seconds_left(deadline))
    except TooLate:
        data.cancel()  # a read that has not started leaves the queue; a running one goes on
        note_failure(Dependency.BLOB_STORE, logger, "Reading blob %s timed out.", location.key)
        raise BlobDeadlinePassed(f"Reading blob {location.key} timed out.") from None


def _seconds_left(deadline: float | None) -> float | None:
    """Return the seconds that a read may still take, without SPARE_SECONDS; never negative."""
    return None if deadline is None else max(0.0, deadline - SPARE_SECONDS - time.monotonic())


_pool = ThreadPool("block-reader", AT_ONCE)
_readers = ThreadPool("file-reader", NEAR_AT_ONCE)
