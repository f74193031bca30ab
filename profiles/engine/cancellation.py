"""Checkpoints: where long work looks whether it is still wanted.

The engine knows neither clock nor deadline: who asks it says what a look is, and whatever that
raises ends the work. Between two looks stands at most one pass over one tree or one chunk of rows.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Look = Callable[[], None]

EVERY = 4096  # items between two looks

_look: ContextVar[Look | None] = ContextVar("flamewatch_look", default=None)


def checkpoint() -> None:
    look = _look.get()
    if look is not None:
        look()


@contextmanager
def checking(look: Look) -> Iterator[None]:
    """Within, checkpoints call `look`, and then what they called before."""
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
    """The items, with a look at the first of each EVERY: for loops over nodes in Python."""
    for number, item in enumerate(items):
        if number % EVERY == 0:
            checkpoint()
        yield item
