"""Detection of nearly full disks, and recognition of the errors of full ones."""

import errno
import sqlite3
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError

from common import disk_space
from common.disk_space import DiskFull, DiskSpace, free_bytes, is_disk_full


class Disk:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free, self.now, self.looks = 100, 0.0, 0
        monkeypatch.setattr(disk_space, "free_bytes", self._free)

    def _free(self, folder: Path) -> int:
        self.looks += 1
        return self.free


def test_shortage_names_free_and_required_bytes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    disk = Disk(monkeypatch)
    space = DiskSpace([tmp_path], lambda: 1000, lambda: disk.now)
    said = space.shortage()
    assert "100 bytes are free" in said
    assert "FLAMEWATCH_MIN_FREE_BYTES requires 1,000" in said
    with pytest.raises(DiskFull, match="disk is full"):
        space.require()


def test_free_space_is_read_once_a_second(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    disk = Disk(monkeypatch)
    space = DiskSpace([tmp_path], lambda: 1000, lambda: disk.now)
    assert all(space.shortage() for _ in range(10))
    assert disk.looks == 1
    disk.free = 1000
    disk.now = 1.0
    assert space.shortage() == ""
    space.require()


def test_minimum_of_zero_reads_no_free_space(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    disk = Disk(monkeypatch)
    assert DiskSpace([tmp_path], lambda: 0, lambda: disk.now).shortage() == ""
    assert disk.looks == 0


def test_a_folder_that_is_not_there_yet_is_on_the_disk_of_its_parent(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "blobs" / "deep") > 0


def test_sqlite_error_of_a_full_disk_is_recognised(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "small.sqlite3")
    database.execute("PRAGMA max_page_count = 3")
    database.execute("CREATE TABLE t (x)")
    with pytest.raises(sqlite3.OperationalError) as full:
        database.execute("INSERT INTO t VALUES (zeroblob(100000))")
    assert is_disk_full(full.value)
    wrapped = OperationalError("database or disk is full")
    wrapped.__cause__ = full.value
    assert is_disk_full(wrapped)
    database.close()


def test_postgresql_and_file_errors_of_a_full_disk_are_recognised_and_others_are_not() -> None:
    assert is_disk_full(psycopg.errors.DiskFull())
    assert is_disk_full(OSError(errno.ENOSPC, "No space left on device"))
    assert not is_disk_full(OSError(errno.EACCES, "Permission denied"))
    assert not is_disk_full(OperationalError("no route to host"))
    assert not is_disk_full(None)
