"""A snapshot of the database: what several statements see is of one moment.

Roll-up moves profiles from rows into blocks in one commit; who reads both inside a snapshot finds
each profile exactly once.
"""

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")


class _Answers(threading.local):
    """Of the thread's snapshot, as its connection is; None outside one."""

    known: dict[Hashable, Any] | None = None


_answers = _Answers()


@contextlib.contextmanager
def snapshot() -> Iterator[None]:
    """Read-only; it takes no lock that a writer would wait for. Inside a transaction: that one.

    Inside another snapshot it is a part of that.
    """
    if _answers.known is not None:
        yield
        return
    with _begun():
        _answers.known = {}
        try:
            yield
        finally:
            _answers.known = None


def once(question: Hashable, ask: Callable[[], T]) -> T:
    """What `ask` answers; inside a snapshot the same question is asked only once.

    Nobody may change the answer.
    """
    known = _answers.known
    if known is None:
        return ask()
    if question not in known:
        known[question] = ask()
    answer: T = known[question]
    return answer


def answered(question: Hashable) -> Any | None:
    """What `once` has kept of it in this snapshot; None: nothing."""
    return (_answers.known or {}).get(question)


# Not `atomic`: that would begin IMMEDIATE on SQLite, and lock the writers out; of PostgreSQL it
# would ask twice, to begin and for the isolation.
_BEGIN = {
    "sqlite": "BEGIN DEFERRED",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}


@contextlib.contextmanager
def _begun() -> Iterator[None]:
    if connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN[connection.vendor])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")
