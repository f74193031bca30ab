"""Process groups of tests: no process that a test starts, directly or not, outlives it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

_leaders: list[int] = []


def begin(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    """Start a process like subprocess.Popen, as the leader of a group that `end_all()` kills."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    _leaders.append(process.pid)
    return process


def end(process: "subprocess.Popen[Any]") -> None:
    """Kill the process and its descendants, including orphaned ones."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.pid in _leaders:
        _leaders.remove(process.pid)


def end_all() -> None:
    while _leaders:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(_leaders.pop(), signal.SIGKILL)


def run(
    command: Sequence[str], *, timeout: float, **options: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a command like subprocess.run, with text output, and kill what it leaves running."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = begin(command, **pipes, **options)
    try:
        out, errors = process.communicate(timeout=timeout)
    finally:
        end(process)
    return subprocess.CompletedProcess(command, process.returncode, out, errors)
