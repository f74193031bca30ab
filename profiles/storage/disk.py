"""The disks that profiles are stored on: whether there is room for more."""

import time
from pathlib import Path

from django.conf import settings

from common.disk_space import DiskFull, DiskSpace
from profiles.storage.blobs import address

# A database on another machine says that its disk is full when it is written to. That is
# believed for so long, unless something was stored since.
BELIEVED_SECONDS = 30.0


def shortage() -> str:
    """Return a sentence where profiles cannot be stored for lack of room, else ""."""
    full_since = _failed[0]
    if full_since is not None and time.monotonic() - full_since < BELIEVED_SECONDS:
        return DATABASE_FULL
    return _space().shortage()


def require_room() -> None:
    """Raise DiskFull before anything is done for an upload that could not be stored."""
    _space().require()


def note_full() -> DiskFull:
    """Note that the database had no room, and return the error to raise."""
    _failed[0] = time.monotonic()
    return DiskFull(DATABASE_FULL)


def note_stored() -> None:
    """Note that the database had room."""
    _failed[0] = None


def _folders() -> list[Path]:
    """Those on this machine; the disks of a database server or an S3 store are others'."""
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
        _spaces[key] = DiskSpace(_folders(), lambda: int(settings.MIN_FREE_BYTES))
    return _spaces[key]


DATABASE_FULL = (
    "The disk of the database is full. Free some space there; uploads then go on by themselves."
)
_failed: list[float | None] = [None]
_spaces: dict[str, DiskSpace] = {}
