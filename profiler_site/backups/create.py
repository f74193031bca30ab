"""Back up a running server: the rows of one moment, then the blobs that they name."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from django.conf import settings

from profiler_site.backups.database_copies import database_copies
from profiler_site.backups.folder import (
    BackupError,
    BackupFolder,
    Content,
    Manifest,
    file_content,
    for_each,
    hash_content,
)
from profiler_site.configuration import secret_key
from profiles.compaction.lease import BACKUP, lease
from profiles.storage.blob_store import blobs
from profiles.storage.blobs import BlobError, BlobMissing
from profiles.storage.blobs.address import Folder, parse


@dataclass(frozen=True, slots=True)
class BackupSummary:
    manifest: Manifest
    copied: int  # blobs that the folder did not have


def create_backup(path: Path) -> BackupSummary:
    """Write a backup to a folder, which is new or has an older one. Raise BackupError.

    While it runs, blob_sweep.py deletes no blob that the copied rows may name.
    """
    _require_outside_of_blobs(path)
    copies = database_copies()
    copies.prepare_dump()
    folder = BackupFolder(path)
    with folder.lock(create=True):
        previous = folder.read_manifest()
        database = folder.new_database_file()
        try:
            with lease(BACKUP) as is_ours:
                if not is_ours:
                    raise BackupError(
                        "Another backup of this server runs. If it was killed, try again in two"
                        " minutes."
                    )
                rows = copies.dump(database)
                copied, reused, missing = _copy_blobs(folder, rows.live_blobs, previous)
        except BaseException:
            database.unlink(missing_ok=True)
            raise
        manifest = Manifest(
            version=settings.VERSION,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            database_kind=copies.kind,
            database_version=copies.version,
            database_file=database.name,
            database=file_content(database),
            migrations=rows.migrations,
            blobs=reused | copied,
            missing_blobs=missing,
            secret_key=None if secret_key.is_in_environment() else settings.SECRET_KEY,
            secret_key_sha256=hashlib.sha256(settings.SECRET_KEY.encode()).hexdigest(),
        )
        folder.write_manifest(manifest)
    return BackupSummary(manifest, len(copied))


def _require_outside_of_blobs(path: Path) -> None:
    """Raise BackupError for a folder whose files the server would take for unknown blobs."""
    address = parse(settings.BLOB_URL)
    if isinstance(address, Folder):
        store, target = address.path.resolve(), path.resolve()
        if target.is_relative_to(store) or target / "blobs" == store:
            raise BackupError(
                f"{path} has the blobs of the server itself ({store}). Name another folder, best on"
                " another disk."
            )


def _copy_blobs(
    folder: BackupFolder, keys: list[str], previous: Manifest | None
) -> tuple[dict[str, Content], dict[str, Content], list[str]]:
    """Copy blobs that the folder does not have.

    Return those copied, those reused from the previous backup, and the keys of missing ones.
    """
    sizes = {entry.key: entry.size for entry in folder.blobs.list()}
    existing = previous.blobs if previous else {}
    reused = {
        key: existing[key]
        for key in keys
        if key in existing and sizes.get(key) == existing[key].size
    }
    copied: dict[str, Content] = {}
    missing = []
    try:
        for key, content in for_each([k for k in keys if k not in reused], partial(_copy, folder)):
            if content is None:
                missing.append(key)
            else:
                copied[key] = content
    except BlobError as error:
        raise BackupError(f"{error} The backup is not finished; run it again.") from error
    return copied, reused, missing


def _copy(folder: BackupFolder, key: str) -> Content | None:
    """Copy one blob; return None if the store does not have it."""
    try:
        data = blobs().get(key)
    except BlobMissing:
        return None
    folder.blobs.put(key, data)
    return hash_content(data)
