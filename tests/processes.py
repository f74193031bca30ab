"""Processes of a server under test, as /proc shows them."""

import contextlib
from pathlib import Path

_PROC = Path("/proc")


def descendants(pid: int) -> list[int]:
    """Return a process and all that it has started, directly or not."""
    found = [pid]
    for child in children(pid):
        found += descendants(child)
    return found


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that it has adopted.

    None if it has ended.
    """
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError):
        for task in (_PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
                found += map(int, (task / "children").read_text().split())
    return found


def is_running(pid: int) -> bool:
    """Return True for a process that has not ended, whether its parent knows of it or not."""
    try:
        state = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def read_command(pid: int) -> bytes:
    """Return the command of a process; nothing if it has ended."""
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def read_name(pid: int) -> str:
    """Return the name that `ps` shows of a process; nothing if it has ended."""
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def private_bytes(pid: int) -> int:
    """Return the resident memory of a process and its descendants that no file has."""
    total = 0
    for each in descendants(pid):
        try:
            lines = (_PROC / str(each) / "status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))
    return total * 1024
