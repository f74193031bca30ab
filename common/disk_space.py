"""Detect a full disk before writes to it fail."""

import errno
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

_CHECK_SECONDS = 1.0
_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT}
_SQLITE_FULL = 13
_POSTGRESQL_DISK_FULL = "53100"


class DiskFull(Exception):
    """A disk has no space left; the message names it and says what to do."""


class DiskSpace:
    """Check of the free space on the disks of some folders. Thread-safe."""

    def __init__(
        self,
        folders: Iterable[Path],
        least: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`least` returns how many bytes have to be free on each disk; 0 disables the check."""
        self._folders = tuple(folders)
        self._least, self._clock = least, clock
        self._checked: tuple[float, str] = (float("-inf"), "")

    def shortage(self) -> str:
        """Return an error message if a disk has too little free space, else "".

        The disks are checked at most once per second.
        """
        checked_at, message = self._checked
        now = self._clock()
        if now - checked_at >= _CHECK_SECONDS:
            message = next(filter(None, map(self._check, self._folders)), "")
            self._checked = now, message
        return message

    def require(self) -> None:
        """Raise DiskFull if a disk has too little free space."""
        message = self.shortage()
        if message:
            raise DiskFull(message)

    def _check(self, folder: Path) -> str:
        least = self._least()
        if not least:
            return ""
        free = free_bytes(folder)
        if free >= least:
            return ""
        return (
            f"The server's disk is full: {free:,} bytes are free, and FLAMEWATCH_MIN_FREE_BYTES "
            f"requires {least:,}. Free some space; uploads resume automatically."
        )


def free_bytes(folder: Path) -> int:
    """Return how many bytes an unprivileged process may write to the disk of a folder.

    A folder that does not exist yet counts as its nearest existing parent.
    """
    while not folder.exists():
        folder = folder.parent
    stats = os.statvfs(folder)
    return stats.f_bavail * stats.f_frsize


def is_disk_full(error: BaseException | None) -> bool:
    """Return True if an error or one of its causes reports a full disk."""
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        if isinstance(error, DiskFull) or _reports_full(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _reports_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in _FULL_ERRNOS:
        return True
    # Extended result code of sqlite3.Error; its low byte is the primary code.
    code = getattr(error, "sqlite_errorcode", 0)
    if isinstance(code, int) and code & 0xFF == _SQLITE_FULL:
        return True
    return getattr(error, "sqlstate", None) == _POSTGRESQL_DISK_FULL
