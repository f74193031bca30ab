"""Smoke test of every other interpreter of this machine, which `make test-all` tests in full."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
SOURCE = Path(__file__).parents[2] / "src"

pytestmark = pytest.mark.server


def test_interpreter_is_supported(run_other: Run) -> None:
    assert run_other("supported.py", SOURCE) == {"supported": None, "from": str(SOURCE)}


def test_captures_of_every_kind_leak_nothing(run_other: Run) -> None:
    result = run_other("cycles.py", 50)
    assert (result["timers"], result["restored"]) == (0, True)


def test_stacks_are_read(run_other: Run) -> None:
    assert run_other("awaits.py")["working"] > 0


def test_memory_in_use_is_counted(run_other: Run) -> None:
    assert run_other("heap.py", "whole")["before"]["keep.<locals>.<genexpr>"][2] == 100


def test_calls_of_locks_are_tried(run_other: Run) -> None:
    expected = {"free": 200, "recursive": 200, "held": 101}
    assert run_other("contention.py", "free") == expected


def test_awaiting_tasks_are_found(run_other: Run) -> None:
    chains = run_other("tasks.py", "CPU", "chains")
    assert set(chains["direct"]) == {"leaf mid direct"}
