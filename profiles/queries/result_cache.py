"""Sums over selections that are all in blocks, remembered: a block never changes.

Roll-up and retention put other blocks in the place of those that were, and late profiles are rows
of the head first: neither finds what is remembered of before.
"""

from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, TypeVar

from django.conf import settings
from django.utils import timezone

from common.bounded_cache import BoundedCache
from profiles.queries.scanning.scan import PlannedScan
from profiles.queries.selection import Selection

MAX_NUMBERS = 200_000  # of a sum that is kept: with its names, some 5 MB
CLOSED = timedelta(hours=1)  # after its end hardly anything of a range is still to come

T = TypeVar("T")


class ResultKey(NamedTuple):
    selection: Selection
    of_it: Hashable  # what else tells the sum
    blocks: tuple[int, ...]


class ResultCache(Generic[T]):
    """Sums of one kind, those that were asked for last."""

    def __init__(self) -> None:
        self._kept: BoundedCache[tuple[ResultKey, ...], T] = BoundedCache(
            size=settings.REMEMBERED_ANSWERS
        )

    def recall(self, *keys: ResultKey | None) -> T | None:
        """The sum over these selections, if it is known."""
        return self._kept.peek(known) if (known := _all(keys)) else None

    def remember(self, *keys: ResultKey | None, sum: T, numbers: int, gaps: bool) -> None:
        """Unless it is large, or something was missing: that may be back."""
        if (known := _all(keys)) and numbers <= MAX_NUMBERS and not gaps:
            self._kept.keep(known, sum)


def _all(keys: tuple[ResultKey | None, ...]) -> tuple[ResultKey, ...] | None:
    known = tuple(key for key in keys if key is not None)
    return known if len(known) == len(keys) else None


def key(
    selection: Selection, of_it: Hashable, found: PlannedScan, now: datetime | None = None
) -> ResultKey | None:
    """What tells the sum; None for one that may change."""
    if not settings.REMEMBERED_ANSWERS or selection.end > (now or timezone.now()) - CLOSED:
        return None
    blocks = found.blocks()
    return None if blocks is None else ResultKey(selection, of_it, blocks)
