"""Labels belong to the running code, however it is scheduled."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
WORK = ("tasks", "crowded", "nested")


RIGHT = {"red as red", "green as green", "plain as none"}


def wrong(seen: dict[str, int]) -> float:
    """Return the share of time with another function's label."""
    return sum(value for key, value in seen.items() if key not in RIGHT) / sum(seen.values())


@pytest.mark.parametrize("work", WORK)
def test_cpu_time_has_the_labels_of_its_code(run: Run, work: str) -> None:
    result = run("labelled.py", "CPU", work)
    assert {*result["seen"]} == RIGHT  # each thread reads its own labels


@pytest.mark.measurement
@pytest.mark.parametrize("work", WORK)
def test_wall_time_has_the_labels_of_its_code(run: Run, work: str) -> None:
    result = run("labelled.py", "WALL", work)
    assert {*result["seen"]} >= RIGHT
    assert wrong(result["seen"]) < 0.05  # one sample of thirty is wrong


@pytest.mark.measurement
def test_labels_that_change_all_the_time_are_those_of_the_stack_beside_them(run: Run) -> None:
    result = run("labelled.py", "WALL", "quick")
    assert {*result["seen"]} >= RIGHT
    assert wrong(result["seen"]) < 0.005


def test_label_sets_over_the_limit_are_counted_and_their_time_is_kept(run: Run) -> None:
    result = run("labelled.py", "WALL", "many")
    assert result["numbers"] == 256
    assert result["full"] > 0
