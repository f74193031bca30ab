"""Questions of one statement each, several of which make one journey to the database.

There and back takes as long as many a statement.
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
    key: Hashable  # equal ones have equal answers
    sql: str
    values: Sequence[str | int | datetime]
    read: Callable[[Rows], T]


def execute(question: SelectStatement[T]) -> T:
    """Inside a snapshot it is asked once."""
    return once(question.key, lambda: question.read(_ask([question])[0]))


def execute_ahead(questions: Sequence[SelectStatement[Any]]) -> None:
    """Inside a snapshot: what `answer` then knows of these. PostgreSQL is sent all at once."""
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
