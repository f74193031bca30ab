"""Accuracy of the reported times."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
pytestmark = pytest.mark.measurement
TOLERANCE = 0.08  # of a share; machines that run tests are noisy


def share(values: dict[str, int]) -> float:
    return values["three"] / (values["three"] + values["one"])


def test_cpu_time_is_shared_out_as_it_was_used(run: Run) -> None:
    result = run("shares.py", "cpu", 2)
    assert share(result["seen"]) == pytest.approx(share(result["truth"]), abs=TOLERANCE)


def test_cpu_time_adds_up_to_what_the_threads_used(run: Run) -> None:
    result = run("shares.py", "cpu", 2)
    assert sum(result["seen"].values()) == pytest.approx(sum(result["truth"].values()), rel=0.1)


def test_threads_that_wait_use_no_cpu_time(run: Run) -> None:
    result = run("shares.py", "cpu", 2)
    assert result["waiting"] <= 0.02 * result["total"]


def test_wall_time_of_each_thread_is_the_duration_of_the_capture(run: Run) -> None:
    result = run("shares.py", "wall", 2)
    assert result["waiting"] == pytest.approx(5 * result["duration"], rel=0.01)
    assert result["total"] == pytest.approx(7 * result["duration"], rel=0.01)


def test_wall_time_is_shared_out_as_it_passed(run: Run) -> None:
    result = run("shares.py", "wall", 2)
    assert share(result["seen"]) == pytest.approx(share(result["passed"]), abs=TOLERANCE)


def test_threads_that_do_not_move_are_not_read_again(run: Run) -> None:
    counts = run("shares.py", "wall", 2)["counts"]
    assert counts["reused"] > counts["samples"] / 2


def test_sleeping_threads_are_sampled_less_often_with_the_same_total(run: Run) -> None:
    """Five of seven threads sleep for 2 s; after 0.5 s only every fourth tick visits them."""
    result = run("shares.py", "wall", 2)
    assert (
        1.2 * result["counts"]["ticks"] < result["counts"]["reused"] < 4 * result["counts"]["ticks"]
    )
    assert result["waiting"] == pytest.approx(5 * result["duration"], rel=0.01)


def test_threads_briefer_than_two_periods_are_not_overlooked(run: Run) -> None:
    result = run("brief.py", 15)
    assert result["seen"] == pytest.approx(result["used"], rel=0.25)


def test_samples_of_threads_found_late_are_counted_as_overdue(run: Run) -> None:
    # Timers are overdue after 50 ms of CPU time, which none of these threads uses.
    assert run("brief.py", 15)["overdue"] > 10


def test_threads_that_block_the_signal_are_not_overlooked(run: Run) -> None:
    result = run("unheard.py")
    assert result["seen"] == pytest.approx(result["used"], rel=0.2)
    assert result["overdue"] > 0
    assert result["asleep"] <= 0.05 * result["used"]
