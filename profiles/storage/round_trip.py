"""Run several SELECT statements in one database round trip.

A round trip takes about as long as executing a typical statement of a query.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import connection

from profiles.storage.snapshot import answered, keep, once, opening

T = TypeVar("T")
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class SelectStatement(Generic[T]):
    """SELECT statement with its parameters and the function that converts its rows."""

    key: Hashable  # statements with equal keys have equal results
    sql: str
    values: Sequence[str | int | datetime]
    read: Callable[[Rows], T]


def execute(question: SelectStatement[T]) -> T:
    """Run a statement and return its converted result.

    Inside a snapshot, statements with the same key run once.
    """
    return once(question.key, lambda: question.read(_ask([question])[0]))


def execute_ahead(questions: Sequence[SelectStatement[Any]]) -> None:
    """Run the statements now and cache their results in the snapshot for `execute`.

    Statements with a cached result are skipped. PostgreSQL gets all others in one round trip,
    SQLite one by one. Outside a snapshot the results are lost.
    """
    new = [each for each in questions if answered(each.key) is None]
    if new:
        for question, rows in zip(new, _ask(new), strict=True):
            keep(question.key, question.read(rows))


def _ask(questions: Sequence[SelectStatement[Any]]) -> list[Rows]:
    if connection.vendor == "postgresql":
        return _together(questions)
    found = []
    with connection.cursor() as cursor:
        for question in questions:
            cursor.execute(question.sql, _adapted(question))
            found.append(cursor.fetchall())
    return found


def _together(questions: Sequence[SelectStatement[Any]]) -> list[Rows]:
    """Send all statements as one query, after BEGIN if the snapshot has not begun yet."""
    begin = opening()
    found = []
    with connection.cursor() as cursor:
        cursor.execute(
            "; ".join([*begin, *(question.sql for question in questions)]),
            [value for question in questions for value in _adapted(question)],
        )
        if begin:
            cursor.nextset()
        for _ in questions:
            found.append(cursor.fetchall())
            cursor.nextset()
    return found


def _adapted(question: SelectStatement[Any]) -> list[Any]:
    adapt = connection.ops.adapt_datetimefield_value
    return [adapt(value) if isinstance(value, datetime) else value for value in question.values]
