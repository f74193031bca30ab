"""Count of the database connections that threads open."""

import contextlib
from collections.abc import Iterator
from typing import Any

from django.db.backends.signals import connection_created


@contextlib.contextmanager
def count_connections() -> Iterator[list[object]]:
    """Yield a list that records each connection that any thread opens in the block."""
    opened: list[object] = []

    def record(connection: object, **_: Any) -> None:
        opened.append(connection)

    connection_created.connect(record)
    try:
        yield opened
    finally:
        connection_created.disconnect(record)
