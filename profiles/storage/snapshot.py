"""Read-only snapshot of the database, and the statements that queries run in it.

Compaction moves profiles from head rows into blocks in one commit; a query that reads both inside
a snapshot finds each profile exactly once.
"""

from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeVar

import orjson
import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q, QuerySet
from psycopg.types.json import set_json_loads

T = TypeVar("T")
RowQuery: TypeAlias = "QuerySet[Any, tuple[Any, ...]]"
Rows = list[tuple[Any, ...]]
RowStream = Generator[tuple[Any, ...], None, None]

AT_ONCE = 16  # rows that psycopg fetches at a time; the connection buffers more
CHUNK = 256  # rows of each statement on databases without streaming

# Django's `atomic` is not used: on SQLite it would BEGIN IMMEDIATE and lock out the writers, and on
# PostgreSQL it would take two round trips, one to begin and one to set the isolation level.
_BEGIN = {
    "sqlite": "BEGIN DEFERRED",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}


@dataclass(frozen=True, slots=True)
class SelectStatement(Generic[T]):
    """SELECT statement with its parameters and the function that converts its rows."""

    key: Hashable  # statements with equal keys have equal results
    sql: str
    values: Sequence[str | int | datetime]
    read: Callable[[Rows], T]


class Snapshot:
    """One consistent state of the database, read in the `with` bodies of the snapshot.

    The outermost `with` begins a read-only transaction at its first statement, whether this comes
    from here or from Django's ORM, and ends it. It takes no lock that a writer would wait for.
    Inside a transaction the snapshot uses that transaction. It belongs to the thread that entered
    it, as the database connection does.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._transaction = ExitStack()
        self._awaits_begin = False
        self._results: dict[Hashable, Any] = {}

    def __enter__(self) -> "Snapshot":
        if not self._depth:
            self._transaction.enter_context(self._begun())
        self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._results.clear()
            self._transaction.__exit__(kind, error, traceback)

    def once(self, key: Hashable, load: Callable[[], T]) -> T:
        """Return the result of `load()`, cached under the key until the snapshot ends.

        Outside the `with` body, call `load` each time. Callers must not modify the result.
        """
        if not self._depth:
            return load()
        if key not in self._results:
            self._results[key] = load()
        result: T = self._results[key]
        return result

    def cached(self, key: Hashable) -> Any | None:
        """Return the result cached under the key, or None."""
        return self._results.get(key)

    def select(self, statement: SelectStatement[T]) -> T:
        """Run a statement and return its converted result.

        Inside the `with` body, statements with the same key run once.
        """
        return self.once(statement.key, lambda: statement.read(self._run([statement])[0]))

    def prefetch(self, statements: Sequence[SelectStatement[Any]]) -> None:
        """Run the statements now and cache their results for `select`.

        Statements with a cached result are skipped. PostgreSQL gets all others in one round trip,
        which takes about as long as executing a typical statement; SQLite gets them one by one.
        Outside the `with` body the results are lost.
        """
        new = [each for each in statements if each.key not in self._results]
        if new:
            for statement, rows in zip(new, self._run(new), strict=True):
                self.once(statement.key, partial(statement.read, rows))

    def stream(
        self, rows: QuerySet[Any, tuple[Any, ...]]
    ) -> Generator[tuple[Any, ...], None, None]:
        """Yield rows as tuples in order of time and pk, which must be their last two columns.

        Django reads PostgreSQL's `bytea` as hexadecimal text, which takes most of the time to read
        the trees of an hour. This method requests PostgreSQL's binary format, and yields rows
        while later ones are still arriving. Do not use the database connection until the generator
        has ended or is closed.
        """
        rows = rows.order_by("time", "pk")
        postgresql = connection.vendor == "postgresql"
        return self._from_postgresql(rows) if postgresql else _in_chunks(rows)

    @contextmanager
    def _begun(self) -> Iterator[None]:
        """Open a transaction that begins with its first statement and ends with ROLLBACK.

        BEGIN is delayed so that it can share the round trip of the first statement.
        """
        if connection.in_atomic_block:
            yield
            return
        self._awaits_begin = True
        try:
            with connection.execute_wrapper(self._after_begin):
                yield
        finally:
            if not self._begin_statements():
                _execute("ROLLBACK")

    def _after_begin(self, execute: Callable[..., Any], *statement: Any) -> Any:
        self._begin()
        return execute(*statement)

    def _begin(self) -> None:
        for statement in self._begin_statements():
            _execute(statement)

    def _begin_statements(self) -> list[str]:
        """Return the statements to send before, or with, the first statement of the snapshot.

        Only the first call returns any; the caller has to send them.
        """
        if not self._awaits_begin:
            return []
        self._awaits_begin = False
        return [_BEGIN[connection.vendor]]

    def _run(self, statements: Sequence[SelectStatement[Any]]) -> list[Rows]:
        if connection.vendor == "postgresql":
            return self._in_one_round_trip(statements)
        results = []
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement.sql, _adapted(statement))
                results.append(cursor.fetchall())
        return results

    def _in_one_round_trip(self, statements: Sequence[SelectStatement[Any]]) -> list[Rows]:
        """Send all statements as one query, after BEGIN if the snapshot has not begun yet."""
        begin = self._begin_statements()
        results = []
        with connection.cursor() as cursor:
            cursor.execute(
                "; ".join([*begin, *(statement.sql for statement in statements)]),
                [value for statement in statements for value in _adapted(statement)],
            )
            if begin:
                cursor.nextset()
            for _ in statements:
                results.append(cursor.fetchall())
                cursor.nextset()
        return results

    def _from_postgresql(self, rows: RowQuery) -> RowStream:
        connection.ensure_connection()
        try:
            sql, parameters = rows.query.sql_with_params()
        except EmptyResultSet:  # no row can match the filters: no statement to send
            return
        self._begin()
        # Django's own cursors bind parameters in the client, which excludes binary results.
        with psycopg.Cursor[tuple[Any, ...]](connection.connection) as cursor:
            set_json_loads(orjson.loads, cursor)
            yield from cursor.stream(sql, parameters, binary=True, size=AT_ONCE)


def _in_chunks(rows: RowQuery) -> RowStream:
    chunk = list(rows[:CHUNK])
    yield from chunk
    while len(chunk) == CHUNK:
        time, pk = chunk[-1][-2:]
        chunk = list(rows.filter(Q(time__gt=time) | Q(time=time, pk__gt=pk))[:CHUNK])
        yield from chunk


def _adapted(statement: SelectStatement[Any]) -> list[Any]:
    adapt = connection.ops.adapt_datetimefield_value
    return [adapt(value) if isinstance(value, datetime) else value for value in statement.values]


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
