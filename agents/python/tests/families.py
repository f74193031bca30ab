"""Processes that tests start, and all that those start in turn: none outlives its test."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

_leaders: list[int] = []


def begin(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    """As subprocess.Popen; the first of a group of its own, which `end_all()` ends."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    _leaders.append(process.pid)
    return process


def end(process: "subprocess.Popen[Any]") -> None:
    """It and its descendants, those too whose parent is already gone."""
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
    """As subprocess.run, with its output as text; nothing that it started is left."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = begin(command, **pipes, **options)
    try:
        out, errors = process.communicate(timeout=timeout)
    finally:
        end(process)
    return subprocess.CompletedProcess(command, process.returncode, out, errors)
