"""Free space of the disks that profiles are stored on."""

import time
from pathlib import Path

from django.conf import settings

from common.disk_space import DiskFull, DiskSpace
from profiles.storage.blobs import address

# A database on another machine reports a full disk only when it is written to. That report counts
# for this long, unless a write succeeds earlier.
BELIEVED_SECONDS = 30.0


def shortage() -> str:
    """Return an error message if profiles cannot be stored for lack of disk space, else ""."""
    full_since = _failed[0]
    if full_since is not None and time.monotonic() - full_since < BELIEVED_SECONDS:
        return DATABASE_FULL
    return _space().shortage()


def require_room() -> None:
    """Raise DiskFull if a local disk is short of space.

    Called before any work for an upload. A reported full disk of a database server does not
    count here: only the next write shows that there is space again.
    """
    _space().require()


def note_full() -> DiskFull:
    """Record that the disk of the database is full, and return the error to raise."""
    _failed[0] = time.monotonic()
    return DiskFull(DATABASE_FULL)


def note_stored() -> None:
    """Record that a write to the database succeeded."""
    _failed[0] = None


def folders() -> list[Path]:
    """Return the folders on this machine that profiles are stored in.

    The disks of a PostgreSQL server or an S3 store are not visible from here.
    """
    found = []
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        found.append(Path(str(database["NAME"])).parent)
    blobs = address.parse(settings.BLOB_URL)
    if isinstance(blobs, address.Folder):
        found.append(blobs.path)
    return found


def _space() -> DiskSpace:
    key = settings.BLOB_URL
    if key not in _spaces:
        _spaces.clear()
        _spaces[key] = DiskSpace(folders(), lambda: int(settings.MIN_FREE_BYTES))
    return _spaces[key]


DATABASE_FULL = (
    "The disk of the database is full. Free some space there; uploads resume automatically."
)
_failed: list[float | None] = [None]
_spaces: dict[str, DiskSpace] = {}
