"""Notice a full disk before it breaks what is stored on it."""

import errno
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

_LOOKED_FOR_SECONDS = 1.0
_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT}
_SQLITE_FULL = 13
_POSTGRESQL_DISK_FULL = "53100"


class DiskFull(Exception):
    """A disk has no room for what should be stored; the text says which, and what to do."""


class DiskSpace:
    """Free bytes of the disks of some folders; safe between threads."""

    def __init__(
        self,
        folders: Iterable[Path],
        least: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`least` bytes have to be free on each; 0 switches the look off."""
        self._folders = tuple(folders)
        self._least, self._clock = least, clock
        self._known: tuple[float, str] = (float("-inf"), "")

    def shortage(self) -> str:
        """Return a sentence where too little is free, else "". Looks once a second."""
        at, said = self._known
        now = self._clock()
        if now - at >= _LOOKED_FOR_SECONDS:
            said = next(filter(None, map(self._look, self._folders)), "")
            self._known = now, said
        return said

    def require(self) -> None:
        """Raise DiskFull where too little is free."""
        said = self.shortage()
        if said:
            raise DiskFull(said)

    def _look(self, folder: Path) -> str:
        least = self._least()
        if not least:
            return ""
        free = free_bytes(folder)
        if free >= least:
            return ""
        return (
            f"The server's disk is full: {free:,} bytes are free, and FLAMEWATCH_MIN_FREE_BYTES "
            f"asks for {least:,}. Free some space; what waits is taken again by itself."
        )


def free_bytes(folder: Path) -> int:
    """Return how many bytes may be written to the disk of a folder, or of its nearest parent."""
    while not folder.exists():
        folder = folder.parent
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether an error, or what caused it, says that a disk is full."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, DiskFull) or _says_full(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _says_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in _FULL_ERRNOS:
        return True
    # Of sqlite3.Error; its low byte is the kind of error.
    code = getattr(error, "sqlite_errorcode", 0)
    if isinstance(code, int) and code & 0xFF == _SQLITE_FULL:
        return True
    return getattr(error, "sqlstate", None) == _POSTGRESQL_DISK_FULL
