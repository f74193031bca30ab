"""The bytes of a block, out of the blob that it is packed in.

Blocks never change: those of a store that is far away are kept in memory for a while.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from time import monotonic

from profiles.engine.blocks.container import Source
from profiles.models import Block
from profiles.store.blobs import BlobUnavailable, blobs

KEPT_BYTES = 64 * 2**20
AT_ONCE = 8  # requests to a store that is far away
AHEAD = 16  # blocks that are fetched before they are needed


@dataclass(frozen=True, slots=True)
class Place:
    key: str  # of the blob
    offset: int
    length: int


def place_of(row: Block) -> Place:
    """`row.blob` should have been selected with it."""
    return Place(row.blob.key, row.offset, row.length)


def read(place: Place) -> bytes:
    """All of them; BlobError."""
    return blobs().get(place.key, place.offset, place.length)


def sources(places: Iterable[Place], deadline: float | None = None) -> Iterator[Source]:
    """For each place in turn what reads its block, where that is far away fetched ahead.

    What goes wrong is raised by the source when it is used: BlobError, and BlobUnavailable at
    the `deadline`, a moment of time.monotonic().
    """
    if not blobs().is_remote:
        yield from map(_near, places)
        return
    rest = iter(places)
    waiting: list[tuple[Place, Future[bytes] | bytes]] = []
    while True:
        while len(waiting) < AHEAD and (place := next(rest, None)) is not None:
            waiting.append((place, _kept.get(place) or _pool.submit(_fetch, place)))
        if not waiting:
            return
        yield _far(*waiting.pop(0), deadline)


def _near(place: Place) -> Source:
    """Reads only those sections that are asked for."""
    store = blobs()

    def source(at: int, length: int) -> bytes:
        return store.get(place.key, place.offset + at, max(0, min(length, place.length - at)))

    return source


def _far(place: Place, data: Future[bytes] | bytes, deadline: float | None) -> Source:
    def source(at: int, length: int) -> memoryview:
        whole = data if isinstance(data, bytes) else _wait(place, data, deadline)
        return memoryview(whole)[at : at + length]

    return source


def _wait(place: Place, data: Future[bytes], deadline: float | None) -> bytes:
    try:
        return data.result(None if deadline is None else max(0.0, deadline - monotonic()))
    except TooLate:
        raise BlobUnavailable(f"Blob {place.key} did not come in time.") from None


def _fetch(place: Place) -> bytes:
    data = read(place)
    _kept.put(place, data)
    return data


class _Kept:
    """The blocks that were used last, up to KEPT_BYTES."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._data: OrderedDict[Place, bytes] = OrderedDict()
        self._size = 0

    def get(self, place: Place) -> bytes | None:
        with self._lock:
            data = self._data.get(place)
            if data is not None:
                self._data.move_to_end(place)
            return data

    def put(self, place: Place, data: bytes) -> None:
        with self._lock:
            if place not in self._data:
                self._data[place] = data
                self._size += len(data)
            while self._size > KEPT_BYTES:
                self._size -= len(self._data.popitem(last=False)[1])


_kept = _Kept()
_pool = ThreadPoolExecutor(AT_ONCE, "block-reader")
