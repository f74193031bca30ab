"""Rows with many bytes in each, as fast as the database gives them.

PostgreSQL sends bytes as hexadecimal text unless it is asked for its binary form, which Django
does not: of the trees of an hour that is most of the time. Here rows also come while those before
them are worked on.
"""

from collections.abc import Generator
from typing import Any

import orjson
import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q, QuerySet
from psycopg.types.json import set_json_loads

from profiles.storage.snapshot import open_now

AT_ONCE = 16  # rows that PostgreSQL's driver waits for, beside which the connection holds others
CHUNK = 256  # rows of a statement, of a database without a connection to stream over


def streamed(rows: QuerySet[Any, tuple[Any, ...]]) -> Generator[tuple[Any, ...], None, None]:
    """Rows as tuples, which end with their time and pk, in this order; inside a snapshot.

    Until it has ended or is closed, nothing else may be asked of the connection.
    """
    rows = rows.order_by("time", "pk")
    return _from_postgresql(rows) if connection.vendor == "postgresql" else _in_chunks(rows)


def _from_postgresql(
    rows: QuerySet[Any, tuple[Any, ...]],
) -> Generator[tuple[Any, ...], None, None]:
    connection.ensure_connection()
    try:
        sql, parameters = rows.query.sql_with_params()
    except EmptyResultSet:  # what is asked for cannot be: there is no question to send
        return
    open_now()
    # Django's own cursors bind in the client, and cannot have binary results.
    with psycopg.Cursor[tuple[Any, ...]](connection.connection) as cursor:
        set_json_loads(orjson.loads, cursor)
        yield from cursor.stream(sql, parameters, binary=True, size=AT_ONCE)


def _in_chunks(rows: QuerySet[Any, tuple[Any, ...]]) -> Generator[tuple[Any, ...], None, None]:
    chunk = list(rows[:CHUNK])
    yield from chunk
    while len(chunk) == CHUNK:
        time, pk = chunk[-1][-2:]
        chunk = list(rows.filter(Q(time__gt=time) | Q(time=time, pk__gt=pk))[:CHUNK])
        yield from chunk
