"""Folder of one backup: copies of the blobs, a copy of the database, and the manifest of both.

    backup.lock              held while a backup is written or restored
    manifest.json            what the backup consists of, with checksums
    database-20261125T031500123456
    blobs/projects/1/…       one file for each blob

The manifest is replaced last and atomically: an interrupted backup leaves the previous one intact.
Blobs never change, so the next backup in the same folder copies new ones only.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from profiles.storage.blobs.files import FileBlobs
from profiles.storage.blobs.interface import BlobError

FORMAT = 1
# A blob takes about 150 bytes of the manifest: this is enough for some millions.
MAX_MANIFEST_BYTES = 2**30
# Copies of a remote store wait for the network most of the time. Each holds one blob in memory.
COPIES_AT_ONCE = 8
_LOCK, _MANIFEST, _DATABASE = "backup.lock", "manifest.json", "database-"
_READ_BYTES = 2**20

T = TypeVar("T")


class BackupError(Exception):
    """A backup cannot be made or used; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Content:
    """Size and checksum of a stored file."""

    size: int  # bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that a backup consists of."""

    version: str  # of Flamewatch
    created: str  # RFC 3339
    database_kind: str  # sqlite or postgresql
    database_version: str  # of the database server
    database_file: str
    database: Content
    migrations: list[str]  # applied ones, as app.name
    blobs: dict[str, Content]  # by key
    missing_blobs: list[str]  # keys that rows name and the store did not have
    secret_key: str | None  # None if the operator sets FLAMEWATCH_SECRET_KEY
    secret_key_sha256: str

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT} | asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Raise KeyError, TypeError or ValueError for anything but the manifest of a backup."""
        values: dict[str, Any] = json.loads(text)
        del values["format"]
        if not isinstance(values["blobs"], dict):
            raise TypeError("The list of blobs is an object.")
        values["database"] = Content(**values["database"])
        values["blobs"] = {key: Content(**each) for key, each in values["blobs"].items()}
        return cls(**values)


class BackupFolder:
    """Access to the folder of a backup, by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blobs = FileBlobs(path / "blobs")

    @contextlib.contextmanager
    def lock(self, *, create: bool = False) -> Iterator[None]:
        """Hold the folder's lock. Raise BackupError for a folder with other contents than a backup.

        The lock also tells an unfinished first backup from somebody else's files.
        """
        if create:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(self.path.iterdir()) and not (self.path / _LOCK).exists():
                raise BackupError(
                    f"{self.path} has other files than those of a backup. Name a new folder."
                )
        elif not (self.path / _MANIFEST).exists():
            raise BackupError(
                f"{self.path} has no finished backup: manifest.json is missing there."
            )
        try:
            with (self.path / _LOCK).open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield
        except BlockingIOError:
            raise BackupError(f"Another process uses the backup in {self.path}.") from None

    def read_manifest(self) -> Manifest | None:
        """Return the manifest, None without one. Raise BackupError if it cannot be used."""
        path = self.path / _MANIFEST
        if not path.exists():
            return None
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise BackupError(
                f"{path} has {path.stat().st_size:,} bytes; the limit is {MAX_MANIFEST_BYTES:,}."
            )
        text = path.read_text()
        try:
            found = json.loads(text)["format"]
            if found == FORMAT:
                return Manifest.from_json(text)
        except (KeyError, TypeError, ValueError):
            raise BackupError(f"{path} is damaged: it is not the manifest of a backup.") from None
        raise BackupError(
            f"{path} has the format {found!r}; this version reads format {FORMAT}. Use the version"
            " of Flamewatch that made the backup, or a newer one."
        )

    def new_database_file(self) -> Path:
        return self.path / f"{_DATABASE}{datetime.now(UTC):%Y%m%dT%H%M%S%f}"

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest, then delete the files that only the previous backup had."""
        unfinished = self.path / f"{_MANIFEST}.unfinished"
        unfinished.write_text(manifest.to_json())
        sync(unfinished)
        unfinished.rename(self.path / _MANIFEST)
        sync(self.path)
        for path in self.path.glob(f"{_DATABASE}*"):
            if path.name != manifest.database_file:
                path.unlink()
        for entry in self.blobs.list():
            if entry.key not in manifest.blobs:
                (self.path / "blobs" / entry.key).unlink(missing_ok=True)

    def verify(self, manifest: Manifest) -> None:
        """Compare all files with their checksums. Raise BackupError for the first difference."""
        path = self.path / manifest.database_file
        if path.parent != self.path or not path.exists() or file_content(path) != manifest.database:
            raise self._damage_error(path)
        for key, found in for_each(manifest.blobs, self._blob_content):
            if found != manifest.blobs[key]:
                raise self._damage_error(self.path / "blobs" / key)

    def _blob_content(self, key: str) -> Content | None:
        try:
            return hash_content(self.blobs.get(key))
        except (BlobError, ValueError):  # missing, truncated, or a key that leads elsewhere
            return None

    def _damage_error(self, path: Path) -> BackupError:
        return BackupError(
            f"The backup in {self.path} is damaged: {path.name} is missing or has other bytes than"
            " its checksum. Nothing was restored. Use another backup."
        )


def for_each(keys: Iterable[str], work: Callable[[str], T]) -> Iterator[tuple[str, T]]:
    """Call `work` for each key in COPIES_AT_ONCE threads, and yield the results in order.

    Stop at the first exception.
    """
    with ThreadPoolExecutor(COPIES_AT_ONCE, "backup") as pool:
        names = list(keys)
        results = pool.map(work, names)
        try:
            yield from zip(names, results, strict=True)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def hash_content(data: bytes) -> Content:
    return Content(len(data), hashlib.sha256(data).hexdigest())


def file_content(path: Path) -> Content:
    hash_ = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_READ_BYTES):
            hash_.update(part)
        return Content(file.tell(), hash_.hexdigest())


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
