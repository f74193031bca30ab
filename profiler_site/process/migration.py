"""Creation and update of the database, by one process at a time."""

import fcntl
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from common.sqlite_space import enable_space_return

_ADVISORY_LOCK_ID = 0x666C616D65  # "flame" in ASCII; PostgreSQL has one set of ids per database

# The release whose migrations the first one of each app replaces. Its databases open unchanged.
OLDEST_RELEASE = "0.3"


class DatabaseTooOld(Exception):
    """The database was written by an earlier version than OLDEST_RELEASE."""


def migrate() -> None:
    """Apply the migrations. Of several processes, the others wait, and find them applied.

    Raise DatabaseTooOld before anything is changed.
    """
    with lock_database():
        require_supported_database()
        enable_space_return()
        call_command("migrate", interactive=False, verbosity=0)


def require_supported_database() -> None:
    """Raise DatabaseTooOld for a database that lacks migrations of OLDEST_RELEASE.

    Django would take it for a current one, because it has a migration of the name 0001_initial.
    """
    require_supported_migrations(MigrationRecorder(connection).applied_migrations(), "database")


def require_supported_migrations(applied: Collection[tuple[str, str]], subject: str) -> None:
    """Raise DatabaseTooOld, which names the subject, if migrations of OLDEST_RELEASE are lacking.

    `applied` has pairs of app and name. None of an app is a database without its tables.
    """
    for first, migration in MigrationLoader(None).replacements.items():
        missing = [name for name in migration.replaces if name not in applied]
        if first in applied and missing:
            raise DatabaseTooOld(
                f"The {subject} was written by a version of Flamewatch before {OLDEST_RELEASE}"
                f" (it lacks {'.'.join(missing[-1])}). Start Flamewatch {OLDEST_RELEASE} on it"
                " once, then this version."
            )


@contextmanager
def lock_database() -> Iterator[None]:
    """Exclude other processes that start on the same database at this moment."""
    with _lock_session() if connection.vendor == "postgresql" else _lock_data_folder():
        yield


@contextmanager
def _lock_session() -> Iterator[None]:
    """Hold a lock of a session of its own, which ends with this process at the latest."""
    session = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        with session.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_ADVISORY_LOCK_ID])
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
