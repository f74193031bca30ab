"""Reserve file on the disk, so that a server can start when the disk is full.

SQLite needs some free space to open its database, for the index of its write-ahead log. With a full
disk the server deletes the reserve, starts, answers queries and tells agents to retry later. When
there is free space again, the reserve is created again.
"""

import logging
import os
from pathlib import Path

from common.disk_space import free_bytes

log = logging.getLogger(__name__)

BYTES = 16 * 2**20
_FILE = "disk-reserve"


def open_up(data_dir: Path) -> None:
    """Delete the reserve if less space is free than its own size."""
    path = data_dir / _FILE
    if path.exists() and free_bytes(data_dir) < BYTES:
        path.unlink()
        log.warning(
            "The disk of %s is full. Deleted its reserve of %d bytes; free some space.",
            data_dir,
            BYTES,
        )


def keep(data_dir: Path, least: int) -> None:
    """Create the reserve if it is missing and `least` bytes remain free beside it."""
    path = data_dir / _FILE
    if path.exists() or free_bytes(data_dir) < BYTES + least:
        return
    aside = path.with_suffix(".new")
    try:
        with aside.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, BYTES)
        aside.rename(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        log.warning("Could not create the disk reserve file in %s: %s", data_dir, error.strerror)
