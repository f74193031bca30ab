"""Space of the SQLite file and its log goes back to the disk, beside writers."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from common import sqlite_space
from common.sqlite_space import enable_space_return, return_space
from profiler_site.settings import SQLITE_OPTIONS

MIB = 2**20
pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.sqlite3"


@pytest.fixture
def older_database(file: Path) -> Iterator[BaseDatabaseWrapper]:
    """Database of a version that did not return space."""
    handler = ConnectionHandler(
        {
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(file),
                "OPTIONS": {**SQLITE_OPTIONS},
            }
        }
    )
    yield handler["default"]
    handler["default"].close()


@pytest.fixture
def database(older_database: BaseDatabaseWrapper) -> BaseDatabaseWrapper:
    enable_space_return(older_database)
    return older_database


def number(database: BaseDatabaseWrapper, sql: str) -> int:
    with database.cursor() as cursor:
        cursor.execute(sql)
        return int(cursor.fetchone()[0])


def fill(database: BaseDatabaseWrapper, rows: int = 400) -> None:
    """Store rows of 50 kB, delete all but ten, and leave all of it in the log."""
    with database.cursor() as cursor:
        cursor.execute("PRAGMA wal_autocheckpoint=0")
        cursor.execute("CREATE TABLE IF NOT EXISTS head (id INTEGER PRIMARY KEY, tree BLOB)")
        for _ in range(rows):
            cursor.execute("INSERT INTO head (tree) VALUES (randomblob(50000))")
        cursor.execute("DELETE FROM head WHERE id > 10")


def test_space_of_deleted_rows_and_of_the_log_is_returned(
    database: BaseDatabaseWrapper, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_space, "MAX_FREE_BYTES", MIB)
    fill(database)
    log = file.with_name(f"{file.name}-wal")
    assert log.stat().st_size > 20 * MIB
    freed = return_space(database)
    assert freed > 17 * MIB
    assert file.stat().st_size < 3 * MIB
    assert log.stat().st_size == 0
    assert number(database, "SELECT count(*) FROM head WHERE length(tree) = 50000") == 10
    assert number(database, "PRAGMA busy_timeout") == SQLITE_OPTIONS["timeout"] * 1000  # type: ignore[operator]


def test_free_pages_up_to_the_limit_are_kept(database: BaseDatabaseWrapper) -> None:
    fill(database)
    return_space(database)
    free = number(database, "PRAGMA freelist_count") * number(database, "PRAGMA page_size")
    assert free == sqlite_space.MAX_FREE_BYTES
    assert return_space(database) == 0


def test_writer_without_a_lock_timeout_stores_rows_meanwhile(
    database: BaseDatabaseWrapper, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that may not wait for a lock stores a row between two steps."""
    monkeypatch.setattr(sqlite_space, "MAX_FREE_BYTES", MIB)
    fill(database)
    stored: list[int] = []
    other = sqlite3.connect(file, timeout=0, isolation_level=None)

    def store(_seconds: float) -> None:
        other.execute("INSERT INTO head (tree) VALUES (randomblob(50000))")
        stored.append(1)

    monkeypatch.setattr("common.sqlite_space.time.sleep", store)
    return_space(database)
    other.close()
    assert len(stored) >= 10
    assert number(database, "SELECT count(*) FROM head") == 10 + len(stored)
    free = number(database, "PRAGMA freelist_count") * number(database, "PRAGMA page_size")
    assert free <= MIB


def test_a_reader_of_the_log_does_not_stop_it(database: BaseDatabaseWrapper, file: Path) -> None:
    fill(database)
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM head").fetchone() == (10,)
    done = threading.Event()
    freed: list[int] = []

    def run() -> None:
        freed.append(return_space(database))
        database.close()
        done.set()

    database.inc_thread_sharing()
    thread = threading.Thread(target=run)
    thread.start()
    assert done.wait(60)
    thread.join()
    database.dec_thread_sharing()
    assert freed[0] > 0
    assert reader.execute("SELECT count(*) FROM head").fetchone() == (10,)
    reader.close()


@pytest.mark.slow
def test_a_file_of_an_older_version_is_rewritten_once(
    older_database: BaseDatabaseWrapper, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = older_database
    monkeypatch.setattr(sqlite_space, "MAX_FREE_BYTES", MIB)
    fill(database)
    assert number(database, "PRAGMA auto_vacuum") == 0
    assert return_space(database) == 0
    enable_space_return(database)
    assert number(database, "PRAGMA auto_vacuum") == 2
    assert file.stat().st_size < 2 * MIB
    assert number(database, "SELECT count(*) FROM head WHERE length(tree) = 50000") == 10
    fill(database)
    assert return_space(database) > 17 * MIB


@pytest.mark.parametrize("limit", ["MAX_VACUUM_BYTES", "free"])
def test_a_file_that_is_too_large_to_rewrite_is_named(
    limit: str,
    older_database: BaseDatabaseWrapper,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    sqlite3.connect(file).execute("CREATE TABLE head (id INTEGER PRIMARY KEY, tree BLOB)")
    if limit == "free":
        monkeypatch.setattr(sqlite_space, "free_bytes", lambda _: 1000)
    else:
        monkeypatch.setattr(sqlite_space, limit, 1000)
    enable_space_return(older_database)
    assert number(older_database, "PRAGMA auto_vacuum") == 0
    assert "run VACUUM" in caplog.text


def test_a_connection_opens_beside_a_writer(database: BaseDatabaseWrapper, file: Path) -> None:
    fill(database)
    database.close()
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    database.settings_dict["OPTIONS"]["timeout"] = 0  # it would not wait
    assert number(database, "SELECT count(*) FROM head") == 10
    writer.close()


def test_postgresql_is_not_queried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "vendor", "postgresql")
    monkeypatch.setattr(sqlite_space, "_number", lambda *_: pytest.fail("asked the database"))
    assert return_space() == 0
    enable_space_return()
