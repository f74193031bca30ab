"""Files of decoded columns: shared by processes, never believed if damaged, bounded, expendable."""

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from profiles.engine.blocks import build_hour, open_hour
from profiles.engine.blocks.sections import container
from profiles.engine.blocks.sections.decoded_columns import Arrays, DecodedColumns
from profiles.storage import column_files
from profiles.storage.blob_store import BlockLocation
from profiles.storage.column_files import ColumnFiles
from tests.profiles.engine.blocks.random_blocks import profile_of
from tests.profiles.engine.random_trees import tree_of
from tests.profiles.pprofs import EXAMPLE

MIB = 2**20
LOCATION = BlockLocation("blob-1", 0, 100)
BLOCK = build_hour([profile_of(tree_of({**EXAMPLE, f"main;{i}": i + 1})) for i in range(3)])


def open_files(
    folder: Path, most: int = 64 * MIB, version: str = "1", spare: int = 0
) -> ColumnFiles:
    return ColumnFiles(folder, most, version, spare)


def write(files: ColumnFiles, number: int = 0, size: int = 1000) -> list[str]:
    """Write a file of a block with so many bytes; return an entry if it was written."""
    written: list[str] = []
    columns = files.open_block(LOCATION._replace(offset=number))
    columns.add("zeros", DecodedColumns({"number": number}, (np.zeros(size, np.uint8),)))
    columns.write_later(lambda: written.append("written"))
    files.wait()
    return written


def find(files: ColumnFiles, number: int = 0) -> DecodedColumns | None:
    return files.open_block(LOCATION._replace(offset=number)).find("zeros")


def data_files(files: ColumnFiles) -> list[Path]:
    return [each for each in files.folder.iterdir() if each.name not in {"lock", "last-sweep"}]


def no_source(_offset: int, _length: int) -> bytes:
    raise AssertionError("the block was read")


def test_added_columns_are_read_back_equal(tmp_path: Path) -> None:
    files = open_files(tmp_path)
    arrays: Arrays = (
        np.arange(-2, 5),
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.zeros((0, 4)),
        np.array([[True, False]]),
        np.array([2**63], np.uint64),
    )
    columns = files.open_block(LOCATION)
    columns.add("all", DecodedColumns({"label": "é", "rows": [1, [2]]}, arrays, 20))
    columns.write_later(lambda: None)
    files.wait()
    found = open_files(tmp_path).open_block(LOCATION).find("all")
    assert found is not None
    assert (found.head, found.head_bytes) == ({"label": "é", "rows": [1, [2]]}, 20)
    assert found.private_bytes == 0
    for before, after in zip(arrays, found.arrays, strict=True):
        assert (after.dtype, after.shape, after.tolist()) == (
            *(before.dtype, before.shape, before.tolist()),
        )
        with pytest.raises(ValueError, match="WRITEABLE"):
            after.flags.writeable = True


def test_arrays_outlive_their_file_and_their_store(tmp_path: Path) -> None:
    files = open_files(tmp_path)
    write(files, size=100_000)
    found = find(files)
    assert found is not None
    for path in data_files(files):
        path.unlink()
    (array,) = found.arrays
    tail = array[-10:]
    del files, found, array
    assert tail.tolist() == [0] * 10


def test_a_mapping_ends_with_its_last_array_and_needs_no_file_descriptor(tmp_path: Path) -> None:
    files = open_files(tmp_path)
    write(files)
    (path,) = data_files(files)

    def is_mapped() -> bool:
        return str(path) in Path("/proc/self/maps").read_text()

    descriptors = len(os.listdir("/proc/self/fd"))
    found = find(files)
    assert is_mapped()
    assert len(os.listdir("/proc/self/fd")) == descriptors
    del found
    assert not is_mapped()


@pytest.mark.slow
def test_second_process_maps_columns_without_reading_the_block(tmp_path: Path) -> None:
    files = open_files(tmp_path)
    store = files.open_block(LOCATION)
    block = open_hour(BLOCK, "CPU", store)
    sums = block.get_used_sums([0], None, by_function=True)
    expected = sums.values.tolist(), [*block.strings], block.profiles.time.tolist()
    store.write_later(lambda: None)
    files.wait()
    program = f"""
import django
django.setup()
from pathlib import Path
from profiles.engine.blocks import open_hour
from tests.profiles.storage.test_column_files import LOCATION, no_source, open_files
block = open_hour(no_source, "CPU", open_files(Path({str(tmp_path)!r})).open_block(LOCATION))
sums = block.get_used_sums([0], None, by_function=True)
print((sums.values.tolist(), [*block.strings], block.profiles.time.tolist()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(expected)


def test_second_query_adds_a_file_with_its_further_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = open_files(tmp_path)
    for need in ("tree", "lines"):
        store = files.open_block(LOCATION)
        getattr(open_hour(BLOCK, "CPU", store), need)
        store.write_later(lambda: None)
        files.wait()
    assert len(data_files(files)) == 2
    monkeypatch.setattr(container, "decompress", no_source)
    block = open_hour(no_source, "CPU", files.open_block(LOCATION))
    assert len(block.lines.parent) >= len(block.tree.parent) > 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[:-64],
        lambda data: data + bytes(64),
        lambda data: b"x" + data[1:],
        lambda data: data.replace(b"zeros", b"zeroes"),
        lambda data: data.replace(b"blob-1", b"blob-2"),
        lambda data: bytes(len(data)),
    ],
    ids=["empty", "head", "cut", "long", "magic", "name", "block", "zeros"],
)
def test_damaged_files_are_deleted_and_replaced(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    files = open_files(tmp_path)
    write(files)
    (path,) = data_files(files)
    good = path.read_bytes()
    path.write_bytes(damage(good))
    assert find(files) is None
    assert (files.counts().misses, files.counts().errors) == (1, 1)
    assert data_files(files) == []
    assert write(files) == ["written"]
    assert path.read_bytes() == good


def test_file_of_another_block_is_not_used(tmp_path: Path) -> None:
    files = open_files(tmp_path)
    write(files, 1)
    (first,) = data_files(files)
    path = files.open_block(LOCATION._replace(offset=2)).get_path(0)
    first.rename(path)
    assert find(files, 2) is None
    assert not path.exists()


def test_least_recently_used_files_are_evicted(tmp_path: Path) -> None:
    files = open_files(tmp_path, most=8 * MIB)
    for number in range(7):
        write(files, number, MIB)
    now = time.time()
    for number in range(7):
        path = files.open_block(LOCATION._replace(offset=number)).get_path(0)
        os.utime(path, (now - 3600 + number, now - 3600 + number))
    assert find(files, 0) is not None  # used now
    write(files, 7, MIB)
    files.sweep()
    remaining = [number for number in range(8) if find(files, number) is not None]
    assert remaining[0] == 0
    assert remaining[-1] == 7
    assert 1 not in remaining
    counts = files.counts()
    assert counts.evictions == 8 - len(remaining)
    assert counts.entries == len(remaining) == len(data_files(files))
    assert counts.bytes <= 8 * MIB


def test_query_marks_files_as_used_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = open_files(tmp_path)
    write(files)
    columns = files.open_block(LOCATION)
    columns.find("zeros")
    (path,) = data_files(files)
    os.utime(path, (1, 1))
    columns.begin_query()
    assert path.stat().st_mtime == 1  # at most once in a while
    monkeypatch.setattr(column_files, "TOUCH_SECONDS", -1.0)
    columns.begin_query()
    assert path.stat().st_mtime > 1


def test_writers_of_one_file_leave_one_whole_file(tmp_path: Path) -> None:
    several = [open_files(tmp_path) for _ in range(8)]
    together = threading.Barrier(len(several))

    def write_together(files: ColumnFiles) -> None:
        together.wait()
        assert write(files, size=300_000) == ["written"]

    threads = [threading.Thread(target=write_together, args=(files,)) for files in several]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(data_files(several[0])) == 1
    found = find(several[0])
    assert found is not None
    assert len(found.arrays[0]) == 300_000


def test_full_disk_is_a_counted_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_file: int, _data: memoryview) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    files = open_files(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        assert write(files) == []
        assert write(files, 1) == []  # not tried again at once
    assert files.counts().errors == 1
    assert data_files(files) == []
    assert find(files) is None


def test_folder_that_cannot_be_made_is_a_counted_miss(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    files = open_files(tmp_path / "file" / "columns")
    assert find(files) is None
    assert write(files) == []
    assert files.counts().errors == 3
    files.sweep()


def test_no_file_is_written_without_spare_disk_space(tmp_path: Path) -> None:
    files = open_files(tmp_path, spare=2**60)
    assert write(files) == []
    assert data_files(files) == []
    assert files.counts().errors == 0


def test_files_are_evicted_without_spare_disk_space(tmp_path: Path) -> None:
    write(open_files(tmp_path), size=MIB)
    short = open_files(tmp_path, spare=2**60)
    assert write(short, 1) == []
    assert data_files(short) == []
    assert short.counts().evictions == 1


def test_columns_beyond_a_part_of_the_limit_are_not_written(tmp_path: Path) -> None:
    files = open_files(tmp_path, most=MIB)
    assert write(files, size=MIB // 2) == []


def test_other_versions_have_other_folders_which_are_deleted(tmp_path: Path) -> None:
    old, new = open_files(tmp_path), open_files(tmp_path, version="2")
    write(old)
    assert find(new) is None
    write(new)
    new.sweep()
    assert find(old) is not None  # in use until a day ago
    os.utime(old.folder / "last-sweep", (1, 1))
    new.sweep()
    assert not old.folder.exists()
    assert find(new) is not None
    write(old)
    new.delete_others()
    assert not old.folder.exists()
    assert find(new) is not None


def test_temporary_files_of_dead_processes_are_deleted(tmp_path: Path) -> None:
    files = open_files(tmp_path)
    write(files)
    left, running = files.folder / "tmp-1-0", files.folder / "tmp-2-0"
    for path in (left, running):
        path.write_bytes(b"part")
    os.utime(left, (1, 1))
    files.sweep()
    assert not left.exists()
    assert running.exists()


def test_files_are_private_to_the_server(tmp_path: Path) -> None:
    files = open_files(tmp_path / "cache" / "columns")
    write(files)
    (path,) = data_files(files)
    assert path.stat().st_mode & 0o777 == 0o600
    assert files.folder.stat().st_mode & 0o777 == 0o700


def test_files_of_deleted_blocks_are_deleted_after_a_day(tmp_path: Path) -> None:
    files = open_files(tmp_path)
    for number in (1, 2):
        write(files, number)
    path = files.open_block(LOCATION._replace(offset=1)).get_path(0)
    yesterday = time.time() - column_files.UNUSED_SECONDS - 1
    os.utime(path, (yesterday, yesterday))
    files.sweep()
    assert not path.exists()
    assert find(files, 2) is not None


def test_without_a_limit_there_are_no_files_and_old_ones_are_deleted(
    tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR, settings.BLOCK_CACHE_BYTES = tmp_path, MIB
    files = column_files.column_files()
    assert files is not None
    write(files)
    column_files.delete_old_files()
    assert find(files) is not None
    settings.BLOCK_CACHE_BYTES = 0
    assert column_files.column_files() is None
    column_files.delete_old_files()
    assert not files.folder.exists()


def test_a_query_waits_for_its_write_if_too_many_bytes_are_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_files, "QUEUED_BYTES", 10)
    files, written = open_files(tmp_path), list[str]()
    columns = files.open_block(LOCATION)
    columns.add("zeros", DecodedColumns({}, (np.zeros(11, np.uint8),)))
    columns.write_later(lambda: written.append(threading.current_thread().name))
    assert written == [threading.current_thread().name]
    assert find(files) is not None
