"""Return of free pages of the SQLite file to the disk, in steps that do not hold up writers.

Rows of the head are deleted soon after they were written. SQLite keeps their pages in its file, and
never shortens its write-ahead log (WAL) by itself.
"""

import logging
import time
from pathlib import Path

from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from common.disk_space import free_bytes

log = logging.getLogger(__name__)

# The head of the next hour needs space again: as much stays in the file.
MAX_FREE_BYTES = 16 * 2**20
# Pages that one transaction moves: 1 MiB, which takes some milliseconds.
PAGES_PER_STEP = 256
# The others have the database for this multiple of a step's time. SQLite's writers do not queue:
# they try again after at most 100 ms.
PAUSE_FACTOR, MIN_PAUSE_SECONDS = 4, 0.02
MAX_SECONDS = 120.0  # of one call
# Live data that a start may copy, which takes some seconds.
MAX_VACUUM_BYTES = 2**30
_INCREMENTAL = 2
_CHECKPOINT_WAIT_MS = 50


def return_space(database: BaseDatabaseWrapper = connection) -> int:
    """Shorten the file and its WAL, and return by how many bytes the file became shorter.

    Do nothing on other databases and in a transaction. Leave MAX_FREE_BYTES in the file, and all
    that MAX_SECONDS do not suffice for. A file in which pages cannot be moved stays as it is, see
    `enable_space_return`.
    """
    if database.vendor != "sqlite" or database.in_atomic_block:
        return 0
    before = _number(database, "page_count")
    if _number(database, "auto_vacuum") == _INCREMENTAL:
        _return_pages(database)
    _truncate_log(database)
    return (before - _number(database, "page_count")) * _number(database, "page_size")


def enable_space_return(database: BaseDatabaseWrapper = connection) -> None:
    """Rewrite an SQLite file of an older version once, so that free pages can be returned.

    Call it at a start, before there are writers. It needs free space of twice the live data; larger
    files than MAX_VACUUM_BYTES and busy ones are left as they are, with a warning.
    """
    if database.vendor != "sqlite" or _number(database, "auto_vacuum") == _INCREMENTAL:
        return
    size = (_number(database, "page_count") - _number(database, "freelist_count")) * _number(
        database, "page_size"
    )
    folder = Path(str(database.settings_dict["NAME"])).parent
    if size > MAX_VACUUM_BYTES or free_bytes(folder) < 2 * size:
        log.warning(
            "The database file does not return free space. It has %.1f GB of data: with twice as"
            " much free space, stop the server and run VACUUM in it, see docs/operating.md.",
            size / 1e9,
        )
        return
    with database.cursor() as cursor:
        try:
            cursor.execute(f"PRAGMA auto_vacuum={_INCREMENTAL}")
            cursor.execute("VACUUM")
        except OperationalError as error:  # another process writes: the next start tries again
            log.warning("The database file could not be rewritten to return space: %s", error)
            return
    _truncate_log(database)
    log.info("The database file was rewritten once, so that it returns free space.")


def _return_pages(database: BaseDatabaseWrapper) -> None:
    until = time.monotonic() + MAX_SECONDS
    most = MAX_FREE_BYTES // _number(database, "page_size")
    free = _number(database, "freelist_count")
    while free > most and time.monotonic() < until:
        started = time.monotonic()
        with database.wrap_database_errors:
            # Each step of this statement moves one page, and execute() runs the first one alone.
            database.connection.executescript(
                f"PRAGMA incremental_vacuum({min(PAGES_PER_STEP, free - most)})"
            )
        left = _number(database, "freelist_count")
        if left >= free:  # others write faster
            return
        free = left
        _checkpoint(database, "PASSIVE")
        time.sleep(max(MIN_PAUSE_SECONDS, PAUSE_FACTOR * (time.monotonic() - started)))


def _truncate_log(database: BaseDatabaseWrapper) -> None:
    """Copy the WAL into the file, and truncate it unless somebody reads from it just now.

    The first step does most of the work beside writers; the second one makes them wait.
    """
    _checkpoint(database, "PASSIVE")
    timeout = _number(database, "busy_timeout")
    with database.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout={_CHECKPOINT_WAIT_MS}")
        try:
            _checkpoint(database, "TRUNCATE")
        finally:
            cursor.execute(f"PRAGMA busy_timeout={timeout}")


def _checkpoint(database: BaseDatabaseWrapper, mode: str) -> None:
    with database.cursor() as cursor:
        cursor.execute(f"PRAGMA wal_checkpoint({mode})")
        cursor.fetchall()


def _number(database: BaseDatabaseWrapper, pragma: str) -> int:
    with database.cursor() as cursor:
        cursor.execute(f"PRAGMA {pragma}")
        return int(cursor.fetchone()[0])
