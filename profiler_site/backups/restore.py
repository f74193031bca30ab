"""Restore a backup to the database and the blob store that the settings name."""

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db.migrations.loader import MigrationLoader

from profiler_site.backups.database_copies import DatabaseCopies, database_copies
from profiler_site.backups.folder import BackupError, BackupFolder, Manifest, for_each
from profiler_site.configuration import secret_key
from profiler_site.process import data_folder
from profiler_site.process.migration import DatabaseTooOld, require_supported_migrations
from profiles.storage.blob_store import blobs
from profiles.storage.blobs import BlobError


@dataclass(frozen=True, slots=True)
class RestoreSummary:
    manifest: Manifest
    has_other_secret_key: bool  # FLAMEWATCH_SECRET_KEY differs from the key of the backup's server


def check_backup(path: Path) -> Manifest:
    """Return the manifest of a complete backup that this version can restore.

    Raise BackupError for any other. A server may run meanwhile.
    """
    folder = BackupFolder(path)
    with folder.lock():
        return _verify(folder)


def restore_backup(path: Path, *, replace: bool) -> RestoreSummary:
    """Restore a backup. Raise BackupError before any change if the backup or the target is unfit.

    `replace` allows a target that has data. Blobs come first, and the database in one step: after
    an interruption the old rows are intact, and the same call finishes the work.
    """
    folder = BackupFolder(path)
    copies = database_copies()
    with folder.lock(), _require_stopped_server():
        manifest = _verify(folder)
        if manifest.database_kind != copies.kind:
            raise BackupError(
                f"The backup is of {manifest.database_kind}, and DATABASE_URL names {copies.kind}."
                " Restore to the same kind of database."
            )
        copies.prepare_restore(path / manifest.database_file, manifest.database_version)
        if not replace:
            _require_empty(manifest, copies)
        _restore(folder, manifest, copies)
        return RestoreSummary(manifest, _has_other_secret_key(manifest))


def _verify(folder: BackupFolder) -> Manifest:
    manifest = folder.read_manifest()
    if manifest is None:
        raise BackupError(f"{folder.path} has no finished backup.")
    _require_known_migrations(manifest)
    folder.verify(manifest)
    return manifest


@contextlib.contextmanager
def _require_stopped_server() -> Iterator[None]:
    """Keep servers from starting in the data folder meanwhile. Raise BackupError if one runs."""
    try:
        with data_folder.lock_data_folder(settings.DATA_DIR):
            yield
    except data_folder.InUse as in_use:
        raise BackupError(f"Stop the server before you restore. {in_use}") from None


def _require_known_migrations(manifest: Manifest) -> None:
    """Raise BackupError if the database is of a newer version than this code, or too old for it."""
    loader = MigrationLoader(None)
    replaced = [name for each in loader.replacements.values() for name in each.replaces]
    existing = {f"{app}.{name}" for app, name in [*(loader.disk_migrations or ()), *replaced]}
    unknown = [name for name in manifest.migrations if name not in existing]
    if unknown:
        raise BackupError(
            f"The backup was made by Flamewatch {manifest.version}, whose database is newer than"
            f" that of this version, {settings.VERSION} (unknown: {unknown[0]}). Install that"
            " version or a newer one first."
        )
    applied = {(app, name) for app, _, name in (n.partition(".") for n in manifest.migrations)}
    try:
        require_supported_migrations(applied, "backup")
    except DatabaseTooOld as too_old:
        raise BackupError(str(too_old)) from None


def _require_empty(manifest: Manifest, copies: DatabaseCopies) -> None:
    advice = "Restore to an empty database and store, or use --replace to delete what they have."
    if copies.has_users():
        raise BackupError(f"The database already has accounts or projects. {advice}")
    try:
        foreign = next((e.key for e in blobs().list() if e.key not in manifest.blobs), None)
    except BlobError as error:
        raise BackupError(str(error)) from error
    if foreign is not None:
        raise BackupError(
            f"The blob store has blobs that are not of this backup, such as {foreign}. {advice}"
        )


def _has_other_secret_key(manifest: Manifest) -> bool:
    sha256 = hashlib.sha256(settings.SECRET_KEY.encode()).hexdigest()
    stays = manifest.secret_key is None or secret_key.is_in_environment()
    return stays and sha256 != manifest.secret_key_sha256


def _restore(folder: BackupFolder, manifest: Manifest, copies: DatabaseCopies) -> None:
    try:
        for _key, _done in for_each(manifest.blobs, partial(_copy_back, folder)):
            pass
    except BlobError as error:
        raise BackupError(f"{error} The database is as before; run the command again.") from error
    copies.restore(folder.path / manifest.database_file)
    if manifest.secret_key is not None and not secret_key.is_in_environment():
        secret_key.replace_file(settings.DATA_DIR, manifest.secret_key)


def _copy_back(folder: BackupFolder, key: str) -> None:
    blobs().put(key, folder.blobs.get(key))
