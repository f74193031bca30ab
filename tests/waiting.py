"""Waiting for what another process does, with a bound."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(found: Callable[[], T | None], seconds: float, what: str) -> T:
    """What `found` returns, once it is something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = found()
        if value:
            return value
        time.sleep(0.25)
    raise AssertionError(f"no {what} within {seconds} s")
