"""CPU time and memory of a program and all its processes, from /proc."""

import contextlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_SAMPLE_SECONDS = 0.1
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of the process, its descendants and their terminated children."""
    return sum(_own_seconds(each) for each in family(pid))


@dataclass(frozen=True, slots=True)
class ThreadUsage:
    """CPU time of a thread, and the number of times that it gave up its core in order to wait."""

    cpu_seconds: float = 0.0
    switches: int = 0

    def __sub__(self, other: "ThreadUsage") -> "ThreadUsage":
        return ThreadUsage(self.cpu_seconds - other.cpu_seconds, self.switches - other.switches)


def thread_usage(pid: int) -> dict[int, ThreadUsage]:
    """Return the usage of each thread of a process so far, by its id; `pid` is the main thread."""
    usage = {}
    for task in (_PROC / str(pid) / "task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            usage[int(task.name)] = _thread(task)
    return usage


def _thread(task: Path) -> ThreadUsage:
    nanoseconds = int((task / "schedstat").read_text().split()[0])
    lines = (task / "status").read_text().splitlines()
    switches = next(line for line in lines if line.startswith("voluntary_ctxt_switches:"))
    return ThreadUsage(nanoseconds / 1e9, int(switches.split()[1]))


def family(pid: int) -> list[int]:
    """Return the ids of the process and all its descendants."""
    parents = {int(entry.name): _parent(int(entry.name)) for entry in _PROC.glob("[0-9]*")}
    found = [pid]
    for each in found:
        found.extend(child for child, parent in parents.items() if parent == each)
    return found


def forget_peak(pid: int) -> None:
    """Reset the peak that `peak_bytes` returns."""
    for each in family(pid):
        (_PROC / str(each) / "clear_refs").write_text("5")


def peak_bytes(pid: int) -> int:
    """Return the peak resident bytes, as the sum of each process's peak."""
    return sum(_status(each, "VmHWM") for each in family(pid))


def memory_bytes(pid: int) -> int:
    """Return the memory of the process and its descendants; pages that they share count once."""
    return sum(map(_pss, family(pid)))


@contextmanager
def peak_memory(pid: int) -> Iterator[list[int]]:
    """Measure the largest `memory_bytes` inside the block; the list has it, and the last one."""
    measured, ended = [0, 0], threading.Event()

    def watch() -> None:
        while not ended.wait(_SAMPLE_SECONDS):
            measured[1] = memory_bytes(pid)
            measured[0] = max(measured)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield measured
    finally:
        ended.set()
        watching.join()


def _pss(pid: int) -> int:
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:  # the process has ended meanwhile
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def listening_on(port: int) -> int:
    """Return the process that listens on this port of 127.0.0.1, the oldest if several do."""
    inode = next(
        fields[9]
        for fields in map(str.split, (_PROC / "net/tcp").read_text().splitlines()[1:])
        if fields[1].endswith(f":{port:04X}") and fields[3] == "0A"
    )
    owners = [
        int(link.parts[2])
        for link in _PROC.glob("[0-9]*/fd/*")
        if _target(link) == f"socket:[{inode}]"
    ]
    return min(owners)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:  # the descriptor was closed meanwhile
        return ""


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the program's name, which may contain spaces."""
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def _parent(pid: int) -> int:
    try:
        return int(_stat(pid)[1])
    except OSError:  # the process has ended meanwhile
        return 0


def _own_seconds(pid: int) -> float:
    """Return the seconds of utime, stime, cutime and cstime together."""
    return sum(map(int, _stat(pid)[11:15])) / _TICKS_PER_SECOND


def _status(pid: int, name: str) -> int:
    lines = (_PROC / str(pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
