"""Absence of side effects in the host: leaks, stray signals, trouble with forks or at exit."""

import os
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
MIB = 1 << 20
STORM_SECONDS = int(os.environ.get("STORM_SECONDS", "4"))


def test_500_captures_leak_nothing(run: Run) -> None:
    result = run("cycles.py", 500)
    assert result["grown"] < MIB
    assert result["mappings"] <= 2
    assert result["timers"] == 0
    assert result["restored"]


def test_a_child_forked_in_the_middle_is_clean_and_can_capture(run: Run) -> None:
    result = run("forks.py")
    assert result["codes"] == [0] * 12
    assert result["samples"] > 0


@pytest.mark.parametrize("kind", ["cpu", "wall"])
def test_the_interpreter_may_end_while_a_capture_runs(run: Run, kind: str) -> None:
    assert run("leaving.py", kind, timeout=20) == {}


def test_signal_handler_of_the_host_gets_only_its_own_signals(run: Run) -> None:
    result = run("signals.py")
    assert result["chained_samples"] > 0
    assert result["first"] == 2


def test_replacing_our_signal_handler_ends_the_capture_and_keeps_the_new_one(run: Run) -> None:
    result = run("signals.py")
    assert result["taken"] == 1
    assert result["stray_calls"] == 0
    assert result["second_still_there"]
    assert result["handler"] == "second"


def test_thread_names_are_unchanged_and_the_sampler_thread_ends(run: Run) -> None:
    result = run("traces.py")
    before = result["before"]["names"]
    assert "the host's own" in before.values()
    assert result["after"]["names"] == before
    for kind in ("cpu", "wall"):
        during = result["during"][kind]["names"]
        assert before.items() < during.items()
        assert sorted(during.values()) == sorted([*before.values(), "flamewatch"])
    assert result["during"]["contention"]["names"] == before


def test_signals_are_afterwards_as_they_were_before(run: Run) -> None:
    result = run("traces.py")
    before, cpu = result["before"]["signals"], result["during"]["cpu"]["signals"]
    assert all(cpu[thread] != before[thread] for thread in before)  # SIGURG is caught
    assert result["after"]["signals"] == before
    for kind in ("wall", "threads", "contention"):
        assert before.items() <= result["during"][kind]["signals"].items()


def test_errno_of_the_host_is_unchanged_by_failing_samples(run: Run) -> None:
    assert run("traces.py")["errno"] == [*range(70, 90)]


@pytest.mark.nightly
@pytest.mark.timeout(120 + 10 * STORM_SECONDS)
@pytest.mark.parametrize("kind", ["cpu", "wall"])
def test_many_short_threads_generators_and_code_objects_give_correct_stacks(
    run: Run, kind: str
) -> None:
    result = run("storm.py", kind, STORM_SECONDS, timeout=100 + 10 * STORM_SECONDS)
    assert result["faults"] == {}
    assert result["torn"] < 0.02 * result["samples"]
    found = f"{result['edges']}, for example in {result['examples']}"
    if kind == "cpu":
        # Each thread reads its own stack, except in overdue samples: the sampler thread takes
        # these, and may mix two moments as in WALL. One of a run's few may be wrong by chance.
        assert result["excess"] == 0, found
        assert result["wrong"] <= 1 + 0.005 * result["overdue"], found
    else:
        wrong = sum(result["edges"].values())
        assert wrong < 0.005 * result["samples"], found  # the thread runs while it is read


def test_if_the_kernel_denies_reads_the_reason_is_reported_and_nothing_runs(run: Run) -> None:
    result = run("denied.py", "process_vm_readv")
    assert result["supported"].startswith("the kernel refuses process_vm_readv (Operation not")
    assert result["error"] == result["supported"]


def test_if_the_kernel_denies_writes_waits_for_locks_are_not_offered(run: Run) -> None:
    result = run("denied.py", "process_vm_writev")
    assert result["supported"] is None
    assert "cannot be replaced: the kernel refuses process_vm_writev" in result["contention"]
    assert result["counts"]["samples"] > 0


def test_if_the_kernel_denies_timers_threads_are_counted_as_not_sampled(run: Run) -> None:
    counts = run("denied.py", "timer_create")["counts"]
    assert counts["unarmed"] == 1
    assert counts["samples"] == 0
