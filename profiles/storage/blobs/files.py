"""Blobs as files below a folder."""

import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from common.outages import Dependency, count_failure
from profiles.storage.blobs.interface import BlobEntry, BlobMissing, BlobUnavailable
from profiles.storage.blobs.keys import check_key

_UNFINISHED = "_unfinished-"


class FileBlobs:
    """Blob store in a local folder; implements BlobStore."""

    is_remote = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, key: str, data: bytes) -> None:
        path = self._path(key)
        try:
            made = _make_folder(path.parent)
            _write(path, data)
            for folder in (path.parent, *made):
                _sync_folder(folder)
        except OSError as error:
            raise _unavailable(key, "written", error) from error

    def get(self, key: str, offset: int = 0, length: int | None = None) -> bytes:
        try:
            with self._path(key).open("rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size - offset if length is None else length
                data = os.pread(file.fileno(), max(size, 0), offset)
        except FileNotFoundError:
            raise BlobMissing(f"Blob {key} does not exist.") from None
        except OSError as error:
            raise _unavailable(key, "read", error) from error
        if len(data) != size:
            raise BlobMissing(f"Blob {key} is truncated: {offset + len(data)} bytes.")
        return data

    def delete(self, key: str) -> None:
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            raise _unavailable(key, "deleted", error) from error

    def list(self, prefix: str = "") -> Iterator[BlobEntry]:
        """Yield the blobs whose keys start with the prefix.

        Unfinished files of a crash are listed too, so that blob_sweep.py deletes them.
        """
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = Path(folder, name)
                key = path.relative_to(self._folder).as_posix()
                if key.startswith(prefix):
                    yield from _list_entry(path, key)

    def _path(self, key: str) -> Path:
        return self._folder / check_key(key)


def _unavailable(key: str, action: str, error: OSError) -> BlobUnavailable:
    count_failure(Dependency.BLOB_STORE)
    return BlobUnavailable(f"Blob {key} cannot be {action}: {error.strerror}.")


def _list_entry(path: Path, key: str) -> Iterator[BlobEntry]:
    try:
        stat = path.stat()
    except FileNotFoundError:  # deleted since the folder was listed
        return
    yield BlobEntry(key, stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC))


def _write(path: Path, data: bytes) -> None:
    """Write and sync a temporary file, then rename it: `path` never has partial content."""
    number, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).rename(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _make_folder(folder: Path) -> list[Path]:
    """Create a folder with its parents, and return the folders that got a new entry.

    The caller has to sync these.
    """
    new = []
    while not folder.exists():
        new.append(folder)
        folder = folder.parent
    for each in reversed(new):
        each.mkdir(mode=0o700, exist_ok=True)  # as its files, which mkstemp creates with 0600
    return [each.parent for each in new]


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
