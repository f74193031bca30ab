"""Cancellation of long computations by checkpoints.

The engine knows neither clock nor deadline: the caller supplies a check, and an exception that it
raises ends the computation. Between two checkpoints there is at most one pass over one tree or over
one chunk of rows.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Look = Callable[[], None]

EVERY = 4096  # items between two checkpoints

_look: ContextVar[Look | None] = ContextVar("flamewatch_look", default=None)


def checkpoint() -> None:
    """Call the check of the current context, if there is one."""
    look = _look.get()
    if look is not None:
        look()


@contextmanager
def checking(look: Look) -> Iterator[None]:
    """Make checkpoints in the `with` block call `look`, and then the check of the outer context."""
    outer = _look.get()

    def both() -> None:
        look()
        if outer is not None:
            outer()

    before = _look.set(both)
    try:
        yield
    finally:
        _look.reset(before)


def looked(items: Iterable[T]) -> Iterator[T]:
    """Yield the items, with a checkpoint every EVERY items: for Python loops over nodes."""
    for number, item in enumerate(items):
        if number % EVERY == 0:
            checkpoint()
        yield item
