"""A file that takes up space, so that a server can start when its disk is full.

SQLite needs some room to open its database (the index of its log). With a full disk the server
deletes the reserve, starts, answers queries and tells agents to send again later; when there is
room again the reserve is made anew.
"""

import logging
import os
from pathlib import Path

from common.disk_space import free_bytes

log = logging.getLogger(__name__)

BYTES = 16 * 2**20
_FILE = "disk-reserve"


def open_up(data_dir: Path) -> None:
    """Delete the reserve if there is less room than it takes up itself."""
    path = data_dir / _FILE
    if path.exists() and free_bytes(data_dir) < BYTES:
        path.unlink()
        log.warning("The disk of %s is full: its reserve of %d bytes was freed.", data_dir, BYTES)


def keep(data_dir: Path, least: int) -> None:
    """Make the reserve where it is missing, and `least` bytes stay free beside it."""
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
        log.warning("The reserve of the disk of %s cannot be made: %s", data_dir, error.strerror)
