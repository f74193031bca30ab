"""Decoded columns of blocks in memory-mapped files, which all processes of a machine share.

A file has the columns of some sections of a block, and results derived from them. Files appear as
a whole and never change; readers map them, so that their memory is the kernel's page cache. Any
file may be deleted at any time: a mapping outlives its file. No file may be cut.

The files of another version of the server, or of an earlier boot of the machine (whose last writes
may be lost), are in other folders.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import logging
import os
import secrets
import shutil
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from django.conf import settings
from numpy.typing import NDArray

from common.disk_space import free_bytes
from common.repeated_log import repeated_log
from common.thread_pool import ThreadPool
from profiles.engine.blocks.sections.decoded_columns import DecodedColumns
from profiles.storage.blob_store import BlockLocation
from profiles.storage.blobs.keys import key_prefix

logger = logging.getLogger(__name__)

Records = dict[str, DecodedColumns]

FORMAT = 1  # of the files and of what the engine stores in them
TOUCH_SECONDS = 60.0  # a file's modification time is its last use, within this
FAILURE_SECONDS = 5.0  # without writes after a failure
UNUSED_SECONDS = 86_400.0  # after this, files and folders of other versions are deleted
TEMPORARY_SECONDS = 60.0  # after this, a temporary file is of a process that died
FILE_PART, SWEEP_PART, DISK_PART = 4, 16, 4  # a file, the writes between two sweeps, the free disk
FULL_PERCENT = 90  # of the limit that a sweep leaves
QUEUED_BYTES = 8 * 2**20  # that wait to be written
MAX_FILES = 64  # of a block
SPARE_DISK_FACTOR = 4  # free disk space for profiles, in units of settings.MIN_FREE_BYTES
_MAGIC = b"fwcolumn"
_HEAD_SIZE = len(_MAGIC) + 8
_ALIGNMENT = 64
_BLOCK_BYTES = 512  # unit of st_blocks
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MARKER, _LOCK, _TEMPORARY = "last-sweep", "lock", "tmp-"
_PROT_READ, _MAP_SHARED = 1, 1
_MAP_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int),
    ctypes.c_ssize_t,
)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


def column_files() -> "ColumnFiles | None":
    """Return the files that the settings name, or None if they turn them off."""
    if not settings.BLOCK_CACHE_BYTES:
        return None
    spare = SPARE_DISK_FACTOR * settings.MIN_FREE_BYTES
    return _open_files(get_folder(), settings.BLOCK_CACHE_BYTES, settings.VERSION, spare)


def get_folder() -> Path:
    return Path(settings.DATA_DIR) / "cache" / "columns"


def delete_old_files() -> None:
    """Delete the files of other versions of the server; no process may use them."""
    files = column_files()
    if files:
        files.delete_others()
    else:
        shutil.rmtree(get_folder(), ignore_errors=True)


class FileCounts(NamedTuple):
    """Counters of this process, and the size of the files as far as it knows."""

    hits: int
    misses: int
    evictions: int
    bytes: int
    entries: int
    errors: int


class _Mapping:
    """Read-only mapping of a whole file; arrays over it keep it alive.

    The standard library's mmap keeps a file descriptor for each mapping, of which there are
    thousands here.
    """

    __slots__ = ("__array_interface__", "_address", "_size")

    def __init__(self, file: int, size: int) -> None:
        self._size = 0
        address = _libc.mmap(None, size, _PROT_READ, _MAP_SHARED, file, 0)
        if address is None or address == _MAP_FAILED:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self._address, self._size = address, size
        read_only = True
        self.__array_interface__ = {
            "data": (address, read_only),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }

    def __del__(self, unmap: Any = _libc.munmap) -> None:
        if self._size:
            unmap(self._address, self._size)


class ColumnFiles:
    """Folder of files with decoded columns, of about `most` bytes; thread-safe.

    Files are written by a thread of their own, after the query that decoded the columns. A failure
    is a miss: it is counted, and the next seconds write nothing.
    """

    def __init__(self, folder: Path, most: int, version: str, spare_bytes: int = 0) -> None:
        """Create the store; the folder is made at the first write.

        `spare_bytes` of the disk always stay free.
        """
        self.most = most
        self.folder = folder / _hash_text(f"{FORMAT} {version} {sys.byteorder} {_boot_id()}")
        self._spare_bytes = spare_bytes
        self._lock = threading.Lock()
        self._hits = self._misses = self._evictions = self._errors = 0
        self._bytes = self._entries = 0
        self._queued_bytes = 0
        self._unswept: int | None = None  # bytes written since the last sweep; None: no sweep yet
        self._limit = most
        self._paused_until = 0.0  # time.monotonic() at which files are written again
        self._writer = ThreadPool("column-file-writer", 1)

    def open_block(self, location: BlockLocation) -> "BlockColumns":
        return BlockColumns(self, f"{location.key} {location.offset} {location.length}")

    def has(self, location: BlockLocation) -> bool:
        """Return True if there is a file of the block; its content may be useless."""
        return self.open_block(location).get_path(0).exists()

    def read(self, path: Path, block: str) -> Records | None:
        """Map a file and note its use; delete a damaged one."""
        try:
            return _map_records(path, block)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._note_failure(error)
            with contextlib.suppress(OSError):
                path.unlink()
            return None

    def start(self, write: Callable[[], object], size: int) -> None:
        """Queue a write of so many bytes; write at once if too many wait already."""
        with self._lock:
            is_queued = self._queued_bytes + size <= QUEUED_BYTES
            if is_queued:
                self._queued_bytes += size
        if not is_queued:
            write()
            return

        def run() -> None:
            try:
                write()
            finally:
                with self._lock:
                    self._queued_bytes -= size

        self._writer.start(run)

    def wait(self) -> None:
        """Wait until all that was queued before is written."""
        self._writer.submit(lambda: None).result()

    def note_lookup(self, *, is_hit: bool) -> None:
        with self._lock:
            if is_hit:
                self._hits += 1
            else:
                self._misses += 1

    def sweep(self) -> None:
        """Delete the files that were not used for longest, until the rest fits.

        Do nothing if another process sweeps, or if there is no folder.
        """
        try:
            self._sweep()
        except FileNotFoundError:
            pass
        except OSError as error:
            self._note_failure(error)

    def measure(self) -> tuple[int, int]:
        """Return the bytes of the files, and how many they may have. Raise OSError."""
        entries = _scan(self.folder) if self.folder.exists() else iter(())
        total = sum(stat.st_blocks * _BLOCK_BYTES for _, stat in entries)
        return total, self._find_limit(total)

    def delete_blobs(self, project: int, is_stored: Callable[[str], bool]) -> None:
        """Delete the files of a project's blobs (by their keys) that are not stored any more."""
        prefix = key_prefix(project)
        for entry, _ in _scan(self.folder) if self.folder.exists() else ():
            if entry.name in {_LOCK, _MARKER} or entry.name.startswith(_TEMPORARY):
                continue
            with contextlib.suppress(OSError, ValueError, KeyError):
                key = _read_block(Path(entry.path)).split(" ")[0]
                if key.startswith(prefix) and not is_stored(key):
                    Path(entry.path).unlink(missing_ok=True)

    def delete_others(self) -> None:
        """Delete the folders of other versions and boots; no process may use them."""
        self._delete_unused_folders(float("inf"))

    def counts(self) -> FileCounts:
        with self._lock:
            return FileCounts(
                *(self._hits, self._misses, self._evictions),
                *(self._bytes, self._entries, self._errors),
            )

    def write(self, path: Path, block: str, records: Records) -> bool:
        """Write a file; return False after a failure. Raise FileExistsError if there is one."""
        if time.monotonic() < self._paused_until:
            return False
        parts = _encode(block, records)
        size = sum(len(part) for part in parts)
        if size > self._limit // FILE_PART:
            return False
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if free_bytes(self.folder) - size < self._spare_bytes:
                self._sweep()
                return False
            self._write_file(path, parts)
        except FileExistsError:
            raise
        except OSError as error:
            self._paused_until = time.monotonic() + FAILURE_SECONDS
            self._note_failure(error)
            return False
        with self._lock:
            self._bytes += size
            self._entries += 1
            is_due = self._unswept is None or self._unswept + size > self._limit // SWEEP_PART
            self._unswept = 0 if is_due else (self._unswept or 0) + size
        if is_due:
            self.sweep()
        return True

    def _write_file(self, path: Path, parts: list[memoryview]) -> None:
        temporary = self.folder / f"{_TEMPORARY}{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        file = os.open(temporary, flags, 0o600)
        try:
            try:
                for part in parts:
                    _write_all(file, part)
            finally:
                os.close(file)
            # Unlike a rename, a link leaves the file of another process in its place.
            os.link(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    def _sweep(self) -> None:
        with (self.folder / _LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            (self.folder / _MARKER).touch(mode=0o600)
            self._delete_unused_folders(time.time() - UNUSED_SECONDS)
            self._evict()

    def _evict(self) -> None:
        files, now = [], time.time()
        for entry, stat in _scan(self.folder):
            if entry.name.startswith(_TEMPORARY):
                if stat.st_mtime < now - TEMPORARY_SECONDS:
                    Path(entry.path).unlink(missing_ok=True)
            elif entry.name not in {_LOCK, _MARKER}:
                files.append((stat.st_mtime, stat.st_blocks * _BLOCK_BYTES, entry.path))
        total, evicted = sum(size for _, size, _ in files), 0
        limit = self._find_limit(total)
        lower = limit * FULL_PERCENT // 100 if total > limit else limit
        for last_use, size, path in sorted(files):
            # Files of deleted blocks are not used any more.
            if total <= lower and last_use > now - UNUSED_SECONDS:
                break
            Path(path).unlink(missing_ok=True)
            total -= size
            evicted += 1
        with self._lock:
            self._limit = limit
            self._evictions += evicted
            self._bytes, self._entries = total, len(files) - evicted

    def _find_limit(self, total: int) -> int:
        """Return the bytes that all files may take, if they take `total` now."""
        room = max(0, total + free_bytes(self.folder) - self._spare_bytes)
        return min(self.most, room // DISK_PART)

    def _delete_unused_folders(self, used_before: float) -> None:
        if not self.folder.parent.exists():
            return
        for entry, stat in _scan(self.folder.parent):
            if entry.name == self.folder.name or not entry.is_dir(follow_symlinks=False):
                continue
            marker = Path(entry.path, _MARKER)
            last_use = marker.stat().st_mtime if marker.exists() else stat.st_mtime
            if last_use < used_before:
                shutil.rmtree(entry.path, ignore_errors=True)

    def _note_failure(self, error: Exception) -> None:
        message = "The files of decoded columns failed; queries continue without them: %s"
        repeated_log.warn(logger, message, error)
        with self._lock:
            self._errors += 1


class BlockColumns:
    """Column store of one block, implements the engine's ColumnStore.

    The columns that one query decoded are one file; a later query that decodes more of the block
    adds the next file.
    """

    def __init__(self, files: ColumnFiles, block: str) -> None:
        self._files, self._block = files, block
        self._lock = threading.Lock()
        self._mapped: Records = {}
        self._paths: list[Path] = []  # files that are mapped
        self._are_all_mapped = False  # as far as this query knows
        self._added: Records = {}  # not written yet
        self._on_written: Callable[[], object] | None = None
        self._touched_at = time.monotonic()

    def find(self, name: str) -> DecodedColumns | None:
        with self._lock:
            while name not in self._mapped and not self._are_all_mapped:
                self._map_next()
            found = self._mapped.get(name) or self._added.get(name)
        self._files.note_lookup(is_hit=found is not None)
        return found

    def add(self, name: str, columns: DecodedColumns) -> None:
        with self._lock:
            self._added[name] = columns
            on_written = self._on_written
        if on_written:
            self.write_later(on_written)

    def begin_query(self) -> None:
        """Look for files of other processes again, and note that those mapped are in use."""
        self._are_all_mapped = False
        self._on_written = None
        now = time.monotonic()
        if now - self._touched_at > TOUCH_SECONDS:
            self._touched_at = now
            for path in [*self._paths]:
                with contextlib.suppress(OSError):
                    os.utime(path)

    def write_later(self, on_written: Callable[[], object]) -> None:
        """Queue what was added for writing; call `on_written` once other processes can map it.

        What is added from now until the next query is written at once.
        """
        with self._lock:
            self._on_written = on_written
            records, self._added = self._added, {}
        if records:
            size = sum(columns.private_bytes for columns in records.values())
            self._files.start(partial(self._write, records, on_written), size)

    def _write(self, records: Records, on_written: Callable[[], object]) -> None:
        """Write what the files of this process and of others do not have yet."""
        while True:
            with self._lock:
                self._are_all_mapped = False
                while not self._are_all_mapped:
                    self._map_next()
                rest = {name: row for name, row in records.items() if name not in self._mapped}
                number = len(self._paths)
            try:
                if rest and (
                    number == MAX_FILES
                    or not self._files.write(self.get_path(number), self._block, rest)
                ):
                    return
            except FileExistsError:
                continue  # of another process
            self._are_all_mapped = False
            on_written()
            return

    def _map_next(self) -> None:
        """Map the next file of the block, if there is one; the caller holds the lock."""
        path = self.get_path(len(self._paths))
        records = None
        if len(self._paths) < MAX_FILES:
            records = self._files.read(path, self._block)
        if records is None:
            self._are_all_mapped = True
        else:
            self._paths.append(path)
            self._mapped |= records

    def get_path(self, number: int) -> Path:
        return self._files.folder / _hash_text(f"{self._block} {number}")


def _encode(block: str, records: Records) -> list[memoryview]:
    """Return the parts of a file: header, then each array at a multiple of _ALIGNMENT."""
    arrays = [np.ascontiguousarray(each) for row in records.values() for each in row.arrays]
    head = {
        "block": block,
        "size": sum(_pad_size(array.nbytes) for array in arrays),
        "records": [
            [name, row.head, row.head_bytes, [[each.dtype.str, each.shape] for each in row.arrays]]
            for name, row in records.items()
        ],
    }
    text = orjson.dumps(head)
    sums = b"".join(number.to_bytes(4, "little") for number in (len(text), zlib.crc32(text)))
    parts = [memoryview(_pad(_MAGIC + sums + text))]
    for array in arrays:
        parts.append(array.reshape(-1).view(np.uint8).data)
        parts.append(memoryview(bytes(_pad_size(array.nbytes) - array.nbytes)))
    return parts


def _read_block(path: Path) -> str:
    """Return the block of a file. Raise OSError, ValueError or KeyError if it is damaged."""
    with path.open("rb") as file:
        fixed = file.read(_HEAD_SIZE)
        head = orjson.loads(file.read(int.from_bytes(fixed[8:12], "little")))
    return str(head["block"])


def _map_records(path: Path, block: str) -> Records:
    """Map a file and note its use. Raise ValueError if it is not a whole file of this block."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        stat = os.fstat(file)
        if stat.st_size < _HEAD_SIZE:
            raise ValueError("a file of decoded columns has no header")
        data: NDArray[np.uint8] = np.asarray(_Mapping(file, stat.st_size))
        if stat.st_mtime < time.time() - TOUCH_SECONDS:
            os.utime(file)
    finally:
        os.close(file)
    fixed = data[:_HEAD_SIZE].tobytes()
    end = _HEAD_SIZE + int.from_bytes(fixed[8:12], "little")
    text = data[_HEAD_SIZE:end].tobytes()
    if fixed[:8] != _MAGIC or zlib.crc32(text) != int.from_bytes(fixed[12:], "little"):
        raise ValueError("a file of decoded columns is damaged")
    head, offset = orjson.loads(text), _pad_size(end)
    if head["block"] != block or offset + head["size"] != len(data):
        raise ValueError("a file of decoded columns is of another block, or cut")
    records: Records = {}
    for name, record_head, head_bytes, described in head["records"]:
        arrays = []
        for type_name, shape in described:
            dtype = np.dtype(type_name)
            length = dtype.itemsize * prod(shape)
            arrays.append(data[offset : offset + length].view(dtype).reshape(shape))
            offset += _pad_size(length)
        records[name] = DecodedColumns(record_head, tuple(arrays), head_bytes, is_shared=True)
    return records


def _pad_size(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _pad(data: bytes) -> bytes:
    return data.ljust(_pad_size(len(data)), b"\0")


def _write_all(file: int, data: memoryview) -> None:
    while len(data):
        data = data[os.write(file, data) :]


def _scan(folder: Path) -> Iterator[tuple["os.DirEntry[str]", os.stat_result]]:
    """Yield the entries of a folder that still exist."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                yield entry, entry.stat(follow_symlinks=False)


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


@cache
def _open_files(folder: Path, most: int, version: str, spare_bytes: int) -> ColumnFiles:
    return ColumnFiles(folder, most, version, spare_bytes)


def _hash_text(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
