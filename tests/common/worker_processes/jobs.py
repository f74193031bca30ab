"""Functions that tests run in worker processes."""

import ctypes
import os
import re
import resource
import signal
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from common.worker_processes.messages import JobControl


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    colour: Colour


class Pair(NamedTuple):
    first: Point
    second: tuple[bytes, ...]


class BadValue(Exception):
    """Exception whose text is not its arguments."""

    def __init__(self, name: str, value: int) -> None:
        super().__init__(f"{name} is {value}")
        self.name, self.value = name, value

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.name, self.value)


class Unlisted(Exception):
    """Exception that the program of the tests does not list."""


CLASSES = (Colour, Point, Pair, BadValue)


def process_id() -> int:
    return os.getpid()


def length(body: bytes) -> tuple[str, int]:
    return type(body).__name__, len(body)


def make_pair(body: bytes) -> Pair:
    return Pair(Point(7, Colour.RED), (body, body))


def reject(name: str) -> None:
    raise BadValue(name, 7)


def fail() -> None:
    raise Unlisted("not to be raised")


def unlisted_value() -> object:
    return re.compile("a")


def make_bytes(size: int) -> bytes:
    return b"x" * size


def compute(*_: object) -> None:
    """Hold the GIL in compiled code for ever."""
    re.match(r"(a|a)*b", "a" * 200)


def sleep(*_: object) -> None:
    time.sleep(3600)


def allocate(*_: object) -> None:
    blocks = []
    while True:
        blocks.append(b"x" * 2**20)


def allocate_and_abort() -> None:
    """End as compiled code does that gets no memory."""
    try:
        allocate()
    except MemoryError:
        os.abort()


def crash(*_: object) -> None:
    ctypes.string_at(0)


def crash_once(marker: str) -> str:
    """Crash unless the file exists, which it makes."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return "survived"
    os.kill(os.getpid(), signal.SIGSEGV)
    return "not reached"


def exit_silently(*_: object) -> None:
    os._exit(0)


def print_something() -> str:
    """Print what must not be taken for a reply."""
    print("something")
    return "printed"


def open_files() -> dict[int, str]:
    folder = Path("/proc/self/fd")
    found = {}
    for name in os.listdir(folder):  # includes the descriptor of the folder itself
        try:
            path = str((folder / name).readlink())
        except OSError:
            continue
        if "/libffi.so" not in path:  # newer versions map code from their own file
            found[int(name)] = path
    return found


def environment() -> dict[str, str]:
    return dict(os.environ)


def priority() -> int:
    return os.nice(0)


def soft_limits() -> tuple[int, int]:
    return (
        resource.getrlimit(resource.RLIMIT_CPU)[0],
        resource.getrlimit(resource.RLIMIT_AS)[0],
    )


def meet(folder: str, name: str, other: str) -> str:
    """Wait until another job has begun; both have to run at once."""
    (Path(folder) / name).touch()
    while not (Path(folder) / other).exists():
        time.sleep(0.01)
    return name


def wait_for(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.01)


def forge() -> "Forged":
    return Forged()


class Forged:
    """Value that runs a function where it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.getpid, ()


_ALLOCATED: list[bytes] = []


def keep_memory(size: int) -> int:
    _ALLOCATED.append(b"x" * size)
    return sum(map(len, _ALLOCATED))


def use_cpu(seconds: float) -> int:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return os.getpid()


def send_numbers(control: JobControl, count: int) -> int:
    for number in range(count):
        control.send(number)
    return count


def send_and_crash(control: JobControl) -> None:
    control.send("begun")
    os.kill(os.getpid(), signal.SIGSEGV)


def wait_until_cancelled(control: JobControl) -> str:
    control.send("begun")
    control.cancelled.wait()
    return "cancelled"


def ignore_cancellation(control: JobControl) -> None:
    control.send("begun")
    time.sleep(3600)


def wait_seconds(seconds: float) -> None:
    time.sleep(seconds)


def private_bytes(pid: int) -> int:
    _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
    return (resident - shared) * resource.getpagesize()


def free_memory_below_other() -> tuple[int, int]:
    """Free 32 MiB in pieces that malloc keeps, because a piece above them is still used.

    Return the process id, and 16 MiB less than the memory of this process then.
    """
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = (ctypes.c_void_p,)
    pieces = [libc.malloc(64 * 2**10) for _ in range(512)]
    for piece in pieces:
        ctypes.memset(piece, 1, 64 * 2**10)
    libc.malloc(64 * 2**10)
    for piece in pieces:
        libc.free(piece)
    return os.getpid(), private_bytes(os.getpid()) - 16 * 2**20
