"""Deadline for blob reads, per thread or asyncio task."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# A blob read gives up this long before the deadline itself, so that the query can still report
# the blob as the reason.
SPARE_SECONDS = 0.25

_until: ContextVar[float | None] = ContextVar("flamewatch_until", default=None)


@contextmanager
def blob_deadline(deadline: float | None) -> Iterator[None]:
    """Limit blob reads in the `with` body to `deadline`, a value of time.monotonic().

    None sets no limit. An earlier deadline of an enclosing call stays in force.
    """
    known = [until for until in (deadline, _until.get()) if until is not None]
    before = _until.set(min(known, default=None))
    try:
        yield
    finally:
        _until.reset(before)


def seconds_left() -> float | None:
    """Return the seconds that a blob read may still take, or None without a deadline.

    SPARE_SECONDS are subtracted already; the result is never negative.
    """
    until = _until.get()
    return None if until is None else max(0.0, until - SPARE_SECONDS - time.monotonic())
