"""Read-only snapshot of the database, and the statements that queries run in it.

Compaction moves profiles from head rows into blocks in one commit; a query that reads both inside
a snapshot finds each profile exactly once.
"""

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
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

    The outermost `with` begins a read-only transaction and ends it. It takes no lock that a writer
    would wait for. Inside a transaction the snapshot uses that transaction. It belongs to the
    thread that entered it, as the database connection does.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._has_begun = False
        self._results: dict[Hashable, Any] = {}

    def __enter__(self) -> "Snapshot":
        if not self._depth:
            self._has_begun = not connection.in_atomic_block
            if self._has_begun:
                _execute(_BEGIN[connection.vendor])
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
            if self._has_begun:
                _execute("ROLLBACK")

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
        return self.once(statement.key, lambda: statement.read(self._run(statement)))

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

    def _run(self, statement: SelectStatement[Any]) -> Rows:
        adapt = connection.ops.adapt_datetimefield_value
        values = [adapt(v) if isinstance(v, datetime) else v for v in statement.values]
        with connection.cursor() as cursor:
            cursor.execute(statement.sql, values)
            return cursor.fetchall()

    def _from_postgresql(self, rows: RowQuery) -> RowStream:
        connection.ensure_connection()
        try:
            sql, parameters = rows.query.sql_with_params()
        except EmptyResultSet:  # no row can match the filters: no statement to send
            return
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


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
