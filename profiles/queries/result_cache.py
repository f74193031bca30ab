"""Result cache for sums over selections that are entirely in blocks, which never change.

The key contains the blocks, so entries need no invalidation: compaction and retention replace
blocks by others, and a selection with out-of-order profiles in the head has no key.
"""

from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, TypeVar

from django.conf import settings
from django.utils import timezone

from common.bounded_cache import BoundedCache
from profiles.queries.scanning.scan import PlannedScan
from profiles.queries.selection import Selection

MAX_NUMBERS = 200_000  # array elements of a cached sum: some 5 MB with its strings
CLOSED = timedelta(hours=1)  # this long after a range's end, hardly any more profiles arrive

T = TypeVar("T")


class ResultKey(NamedTuple):
    selection: Selection
    of_it: Hashable  # further parameters of the sum
    blocks: tuple[int, ...]


class ResultCache(Generic[T]):
    """LRU cache of one kind of sums, with settings.REMEMBERED_ANSWERS entries."""

    def __init__(self) -> None:
        self._kept: BoundedCache[tuple[ResultKey, ...], T] = BoundedCache(
            size=settings.REMEMBERED_ANSWERS
        )

    def recall(self, *keys: ResultKey | None) -> T | None:
        """Return the cached sum over these selections; None if missing or if a key is None."""
        return self._kept.get(known) if (known := _all(keys)) else None

    def remember(self, *keys: ResultKey | None, sum: T, numbers: int, gaps: bool) -> None:
        """Store a sum, unless it is large or has gaps: unreadable data may be readable later.

        `numbers` is the sum's size in array elements. A key that is None prevents caching.
        """
        if (known := _all(keys)) and numbers <= MAX_NUMBERS and not gaps:
            self._kept.put(known, sum)


def _all(keys: tuple[ResultKey | None, ...]) -> tuple[ResultKey, ...] | None:
    known = tuple(key for key in keys if key is not None)
    return known if len(known) == len(keys) else None


def key(
    selection: Selection, of_it: Hashable, found: PlannedScan, now: datetime | None = None
) -> ResultKey | None:
    """Return the cache key of a sum; None if the sum may change or caching is switched off."""
    if not settings.REMEMBERED_ANSWERS or selection.end > (now or timezone.now()) - CLOSED:
        return None
    blocks = found.blocks()
    return None if blocks is None else ResultKey(selection, of_it, blocks)
