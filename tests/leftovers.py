"""Processes left behind by tests: adopted by the test runner, reported and killed."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.processes import children

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h
_GRACE_SECONDS = 10.0  # for processes that are about to end
_earlier_processes: set[int] = set()


@contextlib.contextmanager
def adopted() -> Iterator[None]:
    """Make orphans of our descendants our own children, except for children that exist now."""
    _earlier_processes.update(children(os.getpid()))
    try:
        with unchanged_subreaper():
            _set_subreaper(True)
            yield
    finally:
        _earlier_processes.clear()


def end_all() -> list[str]:
    """Kill the adopted processes that do not end by themselves, and return their descriptions."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while (left := _running()) and time.monotonic() < deadline:
        time.sleep(0.1)
    named = [f"{pid} {_command(pid)}" for pid in left]
    while left:  # their own children are adopted in turn
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
        left = _running()
    return named


@contextlib.contextmanager
def unchanged_subreaper() -> Iterator[None]:
    """Let this process adopt orphans afterwards only if it did before.

    Pools of workers that are forked begin to adopt, and those of the server never stop: their
    processes would be lost.
    """
    libc, before = ctypes.CDLL(None), ctypes.c_int()
    libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    try:
        yield
    finally:
        _set_subreaper(bool(before.value))


def _set_subreaper(enabled: bool) -> None:
    """Let this process adopt the orphans among its descendants, or no longer. Raise OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, int(enabled), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def _running() -> list[int]:
    """Reap terminated children; return the process ids of the others."""
    left = []
    for pid in set(children(os.getpid())) - _earlier_processes:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                left.append(pid)
    return left


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return "(ended)"
