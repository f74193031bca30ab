"""Search for bytes in all that an installation stores: database, log, blobs and column files."""

from collections.abc import Iterator
from pathlib import Path

from django.db import connection

from profiles.storage.blob_store import blobs
from profiles.storage.column_files import get_folder

AUDIT = "projects_auditentry"


def find_bytes(texts: set[bytes]) -> set[tuple[str, bytes]]:
    """Return where each of the texts is stored."""
    return {(path, text) for path, data in _read_all() for text in texts if text in data}


def delete_audit_log() -> None:
    """Delete the audit log, which keeps names, so that the rest of a file can be searched."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {AUDIT}")


def _read_all() -> Iterator[tuple[str, bytes]]:
    if connection.vendor == "sqlite":
        name = str(connection.settings_dict["NAME"])
        for path in (Path(name), Path(f"{name}-wal")):
            if path.exists():
                yield path.suffix, path.read_bytes()
    else:
        yield from _read_live_rows()
    for entry in blobs().list():
        yield f"blob {entry.key}", blobs().get(entry.key)
    for path in [*get_folder().rglob("*")] if get_folder().exists() else []:
        if path.is_file():
            yield f"columns {path.name}", path.read_bytes()


def _read_live_rows() -> Iterator[tuple[str, bytes]]:
    """Yield the live rows of all tables, their texts and their binary values."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                yield (
                    table,
                    b"\n".join(
                        bytes(value) if isinstance(value, memoryview) else str(value).encode()
                        for value in row
                    ),
                )
