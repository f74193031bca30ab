"""Waits for the GIL in WALL captures, beside what the waiting threads measure."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
pytestmark = pytest.mark.measurement


def test_threads_that_compute_together_wait_for_the_gil(run: Run) -> None:
    """A thread that has just been woken to try again may be missed; a machine may be busy."""
    result = run("gil.py", "busy")
    assert result["supported"] is None
    assert result["seen"]["spin"] == pytest.approx(result["waited"]["spin"], rel=0.15)


def test_a_thread_that_sleeps_briefly_waits_for_the_gil_each_time(run: Run) -> None:
    result = run("gil.py", "briefly")
    assert result["seen"]["nap"] == pytest.approx(result["waited"]["nap"], rel=0.15)
    assert result["seen"]["spin"] <= 0.03 * result["duration"]


def test_a_thread_that_computes_alone_does_not_wait_for_the_gil(run: Run) -> None:
    result = run("gil.py", "alone")
    assert result["seen"]["spin"] <= 0.01 * result["duration"]


@pytest.mark.parametrize("mode", ["alone", "busy", "briefly"])
def test_waits_for_locks_and_sleeps_are_no_waits_for_the_gil(run: Run, mode: str) -> None:
    """When its own wait ends, such a thread waits for the GIL for some milliseconds, too."""
    result = run("gil.py", mode)
    assert result["seen"]["rest"] <= 0.03 * result["total"]["rest"]


@pytest.mark.parametrize("kind", ["cpu", "threads"])
def test_only_wall_captures_look_for_waits(run: Run, kind: str) -> None:
    """The snapshot of THREADS is taken with the GIL: the running thread would seem to wait."""
    assert run("gil.py", "busy", kind)["counts"]["gil_waits"] == 0
