"""The data folder of a server that is alone in it: two would both believe that they are."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

_FILE = "lock"


class InUse(Exception):
    """Another server has the folder, or it cannot be locked."""


@contextlib.contextmanager
def held(data_dir: Path) -> Iterator[None]:
    """Nobody else may hold it meanwhile; the kernel lets go of it when the process dies."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / _FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(
                f"Another `flamewatch up` serves the data folder {data_dir}; stop that,"
                f" or choose another folder: flamewatch up --data-dir FOLDER"
            ) from None
        except OSError as error:
            raise InUse(f"The data folder {data_dir} cannot be locked: {error.strerror}.") from None
        yield
