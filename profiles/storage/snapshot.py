"""Read-only database snapshot shared by several statements.

Compaction moves profiles from head rows into blocks in one commit; a query that reads both inside
a snapshot finds each profile exactly once.
"""

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")


class _Answers(threading.local):
    """Cached results of the current thread's snapshot.

    Thread-local, as the database connection is.
    """

    known: dict[Hashable, Any] | None = None  # None outside a snapshot
    awaits_begin = False  # BEGIN has not been sent yet


_answers = _Answers()


@contextlib.contextmanager
def snapshot() -> Iterator[None]:
    """Read from one consistent state of the database within the `with` body.

    The snapshot is read-only and takes no lock that a writer would wait for. Inside a transaction
    it uses that transaction; inside another snapshot it joins that one.
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
    """Return the result of `ask()`, cached under the key `question` inside a snapshot.

    Callers must not modify the result.
    """
    known = _answers.known
    if known is None:
        return ask()
    if question not in known:
        known[question] = ask()
    answer: T = known[question]
    return answer


def keep(question: Hashable, answer: object) -> None:
    """Cache a result for `once` and `answered`; do nothing outside a snapshot."""
    if _answers.known is not None:
        _answers.known[question] = answer


def answered(question: Hashable) -> Any | None:
    """Return the result cached in this snapshot under the key `question`, or None."""
    return (_answers.known or {}).get(question)


def opening() -> list[str]:
    """Return the statements to send before, or with, the first statement of a snapshot.

    Only the first call in a snapshot returns any; the caller has to send them.
    """
    if not _answers.awaits_begin:
        return []
    _answers.awaits_begin = False
    return [_BEGIN[connection.vendor]]


def open_now() -> None:
    """Begin the snapshot's transaction now, for code that bypasses Django's cursors."""
    for statement in opening():
        _execute(statement)


# Django's `atomic` is not used: on SQLite it would BEGIN IMMEDIATE and lock out the writers, and on
# PostgreSQL it would take two round trips, one to begin and one to set the isolation level.
_BEGIN = {
    "sqlite": "BEGIN DEFERRED",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}


@contextlib.contextmanager
def _begun() -> Iterator[None]:
    """Open a transaction that begins with its first statement and ends with ROLLBACK.

    BEGIN is delayed so that it can share the round trip of the first statement (round_trip.py).
    """
    if connection.in_atomic_block:
        yield
        return
    _answers.awaits_begin = True
    try:
        with connection.execute_wrapper(_opened):
            yield
    finally:
        if not opening():
            _execute("ROLLBACK")


def _opened(execute: Callable[..., Any], *statement: Any) -> Any:
    open_now()
    return execute(*statement)


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
