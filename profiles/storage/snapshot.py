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
    awaits_begin = False  # nothing was asked in it yet


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


def keep(question: Hashable, answer: object) -> None:
    """Inside a snapshot: what `once` finds of it from now on."""
    if _answers.known is not None:
        _answers.known[question] = answer


def answered(question: Hashable) -> Any | None:
    """What `once` has kept of it in this snapshot; None: nothing."""
    return (_answers.known or {}).get(question)


def opening() -> list[str]:
    """What has to be sent before, or with, the first statement of a snapshot; it is said once."""
    if not _answers.awaits_begin:
        return []
    _answers.awaits_begin = False
    return [_BEGIN[connection.vendor]]


def open_now() -> None:
    """For whoever sends statements beside Django."""
    for statement in opening():
        _execute(statement)


# Not `atomic`: that would begin IMMEDIATE on SQLite, and lock the writers out; of PostgreSQL it
# would ask twice, to begin and for the isolation.
_BEGIN = {
    "sqlite": "BEGIN DEFERRED",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}


@contextlib.contextmanager
def _begun() -> Iterator[None]:
    """Until the first statement comes nothing is sent: it may go with it (journey)."""
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
