"""Exclusive lock of the data folder: two servers in it would each assume that they are alone."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

_FILE = "lock"


class InUse(Exception):
    """Data folder that another server uses, or that cannot be locked."""


@contextlib.contextmanager
def lock_data_folder(data_dir: Path) -> Iterator[None]:
    """Hold the lock of the data folder; the kernel releases it when the process dies.

    Raise InUse if the lock is taken or not possible.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / _FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(
                f"Another `flamewatch up` uses the data folder {data_dir}. Stop it,"
                f" or use another folder: flamewatch up --data-dir FOLDER"
            ) from None
        except OSError as error:
            raise InUse(f"The data folder {data_dir} cannot be locked: {error.strerror}.") from None
        yield
