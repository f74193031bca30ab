"""A snapshot of the database: what several statements see is of one moment.

Roll-up moves profiles from rows into blocks in one commit; who reads both inside a snapshot finds
each profile exactly once.
"""

import contextlib
from collections.abc import Iterator

from django.db import connection, transaction


@contextlib.contextmanager
def snapshot() -> Iterator[None]:
    """Read-only; it takes no lock that a writer would wait for. Inside a transaction: that one."""
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "sqlite":
        # Not `atomic`: that would begin IMMEDIATE here, and lock the writers out.
        with _deferred():
            yield
    else:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield


@contextlib.contextmanager
def _deferred() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")
