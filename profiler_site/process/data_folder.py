"""Access to the data folder: by one server at a time, and by no other user of the machine."""

import contextlib
import fcntl
import logging
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

log = logging.getLogger(__name__)

_FILE = "lock"
# All that the server creates in its data folder. Anything else may be the operator's own.
_OWN_NAMES = (
    "address",
    "blobs",
    "cache",
    "demo.json",
    "disk-reserve",
    _FILE,
    "metrics",
    "secret_key",
    "static",
)
_SQLITE_SUFFIXES = ("", "-journal", "-shm", "-wal")
PRIVATE_UMASK = 0o077


class InUse(Exception):
    """Data folder that another server uses, or that cannot be locked."""


@contextlib.contextmanager
def lock_data_folder(data_dir: Path) -> Iterator[None]:
    """Hold the lock of the data folder; the kernel releases it when the process dies.

    Two servers in one folder would each assume that they are alone. Raise InUse if the lock is
    taken or not possible.
    """
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (data_dir / _FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(
                f"Another `flamewatch up` uses the data folder {data_dir}. Stop it,"
                f" or use another folder: --data-dir FOLDER"
            ) from None
        except OSError as error:
            raise InUse(f"The data folder {data_dir} cannot be locked: {error.strerror}.") from None
        yield


def restrict_access(data_dir: Path, sqlite_file: Path | None) -> None:
    """Remove the access of other users to the server's files: folders 0700, files 0600.

    What cannot be changed, because it belongs to another user, is logged as one warning.
    """
    failures = []
    for path in _own_paths(data_dir, sqlite_file):
        try:
            _restrict(path)
        except OSError as error:
            failures.append(f"{path}: {error.strerror}")
    if failures:
        log.warning(
            "Other users of this machine may read the server's data, because the mode of %d files"
            " and folders cannot be changed (%s). Let the server's user own the folder %s.",
            len(failures),
            failures[0],
            data_dir,
        )


def _own_paths(data_dir: Path, sqlite_file: Path | None) -> Iterable[Path]:
    yield data_dir
    if sqlite_file is not None:
        yield from (sqlite_file.with_name(sqlite_file.name + end) for end in _SQLITE_SUFFIXES)
    for name in _OWN_NAMES:
        yield data_dir / name
        for folder, folders, files in os.walk(data_dir / name):
            yield from (Path(folder, each) for each in (*folders, *files))


def _restrict(path: Path) -> None:
    """Remove the permissions of group and others, unless the path is a link or missing."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) or not mode & PRIVATE_UMASK:
        return
    if stat.S_ISDIR(mode) and mode & stat.S_ISVTX:
        raise OSError(None, "it is a folder that several users share, like /tmp")
    path.chmod(stat.S_IMODE(mode) & ~PRIVATE_UMASK)
