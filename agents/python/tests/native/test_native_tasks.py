"""Sampling of asyncio tasks, if enabled: the tasks that await them, and their names."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
NAMED = {"red as the red 1", "green as grün \u6f22 \U00010400", "unnamed as none"}
UNNAMED = {"red as none", "green as none", "unnamed as none"}
NEW_IN_314 = {"gathered": "leaf mid gathered", "grouped": "leaf mid grouped"}
BEFORE_314 = {"gathered": "leaf mid", "grouped": "leaf mid"}


AWAITED_BY_ONE = {
    "direct": {"leaf mid direct"},
    "direct_twice": {"leaf mid direct direct_twice"},
    "by_nobody": {"leaf mid"},
    "by_two": {"leaf mid"},  # no caller is shown, because two tasks await it
}


def test_the_tasks_that_await_are_on_the_stack_of_the_one_that_runs(run: Run) -> None:
    result = run("tasks.py", "CPU", "chains")
    assert {way: {*result[way]} for way in AWAITED_BY_ONE} == AWAITED_BY_ONE


def test_tasks_that_await_by_gather_or_a_group_are_found_from_3_14_on(run: Run) -> None:
    result = run("tasks.py", "CPU", "chains")
    expected = NEW_IN_314 if result["version"] >= [3, 14] else BEFORE_314
    assert {way: {*result[way]} for way in expected} == {
        way: {chain} for way, chain in expected.items()
    }


@pytest.mark.measurement
@pytest.mark.parametrize("kind", ["CPU", "WALL"])
def test_names_of_tasks_are_labels_if_enabled(run: Run, kind: str) -> None:
    result = run("tasks.py", kind, "names")
    assert {*result["plain"]} <= UNNAMED
    assert {*result["with_tasks"]} <= NAMED
    assert len(result["with_tasks"]) >= 2  # 0.2 s: one of the three may never be sampled


@pytest.mark.measurement
@pytest.mark.parametrize("kind", ["CPU", "WALL"])
def test_short_lived_tasks_have_correct_stacks(run: Run, kind: str) -> None:
    result = run("tasks.py", kind, "storm")
    assert result["samples"] > 50
    check_edges(result, kind)
    assert sum(result["dropped"].values()) < 0.1 * result["samples"]


def check_edges(result: Any, kind: str) -> None:
    """Check callers: all are right for CPU, where each thread reads itself.

    For WALL a thread runs while it is read, and one stack in some thousands mixes two moments.
    """
    wrong = sum(result["edges"].values())
    assert wrong <= (0.01 * result["samples"] if kind == "WALL" else 0)


def test_awaiting_tasks_are_found_under_uvloop(run_here: Run) -> None:
    result = run_here("tasks.py", "CPU", "chains", "uvloop")
    assert {way: {*result[way]} for way in AWAITED_BY_ONE} == AWAITED_BY_ONE


@pytest.mark.measurement
@pytest.mark.parametrize("kind", ["CPU", "WALL"])
def test_names_of_tasks_are_labels_under_uvloop_if_enabled(run_here: Run, kind: str) -> None:
    result = run_here("tasks.py", kind, "names", "uvloop")
    assert {*result["plain"]} <= UNNAMED
    assert {*result["with_tasks"]} <= NAMED
    assert len(result["with_tasks"]) >= 2


@pytest.mark.measurement
def test_short_lived_tasks_have_correct_stacks_under_uvloop(run_here: Run) -> None:
    result = run_here("tasks.py", "WALL", "storm", "uvloop")
    assert result["samples"] > 50
    check_edges(result, "WALL")


def test_replaced_asyncio_task_class_is_reported_and_skipped(run: Run) -> None:
    result = run("tasks_of_python.py")
    assert "asyncio.Task is not the interpreter's own" in result["said"]
    assert result["samples"] > 0


def test_asyncio_is_not_imported_into_a_program_without_it(run: Run) -> None:
    assert run("tasks_not_used.py") == {"loaded": False}
