"""How long whoever asked waits for bytes that are somewhere else: until a moment, or for ever."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# What came too late is said before the deadline ends everything: so the reason is known.
SPARE_SECONDS = 0.25

_until: ContextVar[float | None] = ContextVar("flamewatch_until", default=None)


@contextmanager
def blob_deadline(deadline: float | None) -> Iterator[None]:
    """Within, reads wait no longer than that, a moment of time.monotonic(), or than before."""
    known = [until for until in (deadline, _until.get()) if until is not None]
    before = _until.set(min(known, default=None))
    try:
        yield
    finally:
        _until.reset(before)


def seconds_left() -> float | None:
    """None: for ever."""
    until = _until.get()
    return None if until is None else max(0.0, until - SPARE_SECONDS - time.monotonic())
