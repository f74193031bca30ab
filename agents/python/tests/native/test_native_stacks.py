"""Stacks are complete, correctly named and bounded."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def test_names_and_files_of_any_alphabet_are_right(run: Run) -> None:
    result = run("names.py")
    names = ["plain", "gr\u00fc\u00dfe", "\u0436\u6f22\u5b57", "\U00010400x", "n" * 300]
    assert result["names"] == names
    assert result["lines"] == [[3, 4]] * 5


@pytest.mark.parametrize("limit", [1, 100, 512, 2048])
def test_a_stack_5000_deep_keeps_its_leaf_most_frames_and_is_marked(run: Run, limit: int) -> None:
    seen = run("deep.py")["threads"][str(limit)]
    assert seen == {"frames": limit, "cut": True, "counted": 1, "right": True}


def test_a_deep_stack_that_waits_is_one_stack(run: Run) -> None:
    assert run("deep.py")["wall"] == [512]


def test_every_thread_is_counted_once_where_it_is(run: Run) -> None:
    result = run("crowd.py", 150)
    assert result["apart"] == {"here": 150, "there": 150, "<module>": 1}
    assert result["stacks_apart"] == 301


def test_stacks_of_threads_are_merged_on_request_without_those_excluded(run: Run) -> None:
    result = run("crowd.py", 150)
    assert result["together"] == {"here": 150, "there": 150}
    assert result["stacks_together"] == 2


@pytest.mark.measurement
def test_sampling_a_few_threads_per_round_estimates_all_of_them(run: Run) -> None:
    wall = run("crowd.py", 150)["wall"]
    assert wall == pytest.approx({"here": 150, "there": 150, "<module>": 1}, rel=0.01)


@pytest.mark.measurement
def test_sampling_150_threads_takes_less_than_a_tenth_of_a_core(run: Run) -> None:
    assert run("crowd.py", 150)["sampler_share"] < 0.1


def test_a_thousand_threads_are_all_seen_and_deep_stacks_cut_and_counted(run: Run) -> None:
    result = run("thousand.py")
    assert result["threads"] == 1000
    assert result["cut"] == result["counted_cut"] == 20
    assert result["deepest"] == 512
    assert result["wall"] == pytest.approx(1000, rel=0.01)
    assert result["dropped"] == 0


@pytest.mark.measurement
@pytest.mark.parametrize("kind", ["cpu", "wall"])
def test_a_thousand_threads_take_a_tick_a_bounded_time(run: Run, kind: str) -> None:
    result = run("thousand.py")
    assert result["tick_ns"][kind] < 5e6  # 0.5 to 0.8 ms on an idle machine
    assert result["share"][kind] < 0.06  # after a tick the sampler rests for 19 times its length


def test_samples_lost_to_full_tables_are_counted(run: Run) -> None:
    result = run("full.py")
    assert result["counts"]["table_full"] > 0
    assert result["stored"] > 0
    assert result["stored"] + result["lost"] == pytest.approx(80, rel=0.02)


def test_coroutines_that_await_are_on_the_stack_of_what_they_await(run: Run) -> None:
    result = run("awaits.py")
    assert result["working"] > 0
    assert result["whole"] == result["working"]


def test_code_that_runs_once_has_its_name_in_cpu_profiles(run: Run) -> None:
    """Bodies of modules and exec'd code are freed before the sampler thread sees the sample."""
    result = run("modules.py")
    seen = result["seen"]
    assert seen["all"] > 0.2e9
    assert seen["body"] + seen["made"] > 0.8 * seen["all"]
    assert seen.get("freed", 0) < 0.02 * seen["all"]
    assert {4, 5} & set(result["lines"]), "the loop of a body"
