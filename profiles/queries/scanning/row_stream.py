"""Streaming reads of rows with large binary columns.

Django reads PostgreSQL's `bytea` as hexadecimal text, which takes most of the time to read the
trees of an hour. This module requests PostgreSQL's binary format, and yields rows while later
ones are still arriving.
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

AT_ONCE = 16  # rows that psycopg fetches at a time; the connection buffers more
CHUNK = 256  # rows of each statement on databases without streaming


def streamed(rows: QuerySet[Any, tuple[Any, ...]]) -> Generator[tuple[Any, ...], None, None]:
    """Yield rows as tuples in order of time and pk, which must be their last two columns.

    Call this inside a snapshot, and do not use its database connection until the generator has
    ended or is closed.
    """
    rows = rows.order_by("time", "pk")
    return _from_postgresql(rows) if connection.vendor == "postgresql" else _in_chunks(rows)


def _from_postgresql(
    rows: QuerySet[Any, tuple[Any, ...]],
) -> Generator[tuple[Any, ...], None, None]:
    connection.ensure_connection()
    try:
        sql, parameters = rows.query.sql_with_params()
    except EmptyResultSet:  # no row can match the filters: no statement to send
        return
    open_now()
    # Django's own cursors bind parameters in the client, which excludes binary results.
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
