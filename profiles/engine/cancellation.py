"""Cancellation of long computations.

The engine knows neither clock nor deadline. Functions whose time grows with the input take a
`check`, which they call at most one pass over one tree, or over one chunk of rows, apart. An
exception that it raises ends the computation.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
Check = Callable[[], None]

EVERY = 4096  # items between two calls


def never_cancel() -> None:
    """Continue: the check of a computation that nothing cancels."""


def check_each(items: Iterable[T], check: Check) -> Iterator[T]:
    """Yield the items, and call `check` every EVERY items: for Python loops over nodes."""
    for number, item in enumerate(items):
        if number % EVERY == 0:
            check()
        yield item
