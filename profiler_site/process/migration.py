"""Creation and update of the database, by one process at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections

from common.sqlite_space import allow_return

_LOCK = 0x666C616D65  # of PostgreSQL's advisory locks in this database


def migrate() -> None:
    """Apply the migrations. Of several processes, the others wait, and find them applied."""
    with _lock_database() if connection.vendor == "postgresql" else _lock_data_folder():
        allow_return()
        call_command("migrate", interactive=False, verbosity=0)


@contextmanager
def _lock_database() -> Iterator[None]:
    """Hold a lock of a session of its own, which ends with this process at the latest."""
    session = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        with session.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        yield
    finally:
        session.close()


@contextmanager
def _lock_data_folder() -> Iterator[None]:
    """Lock the folder of the SQLite file, which needs no file beside it."""
    os.makedirs(settings.DATA_DIR, exist_ok=True)
    folder = os.open(settings.DATA_DIR, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
