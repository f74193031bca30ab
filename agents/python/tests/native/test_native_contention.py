"""Contention profiles: stack and length of waits for locks, and no other waits."""

from collections.abc import Callable
from typing import Any

import pytest

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

Run = Callable[..., Any]
KINDS = ("lock", "rlock")


@pytest.mark.measurement
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", ["with_lock", "with_acquire", "with_timeout"])
def test_the_delay_is_what_the_threads_measured_themselves(
    run: Run, kind: str, function: str
) -> None:
    result = run("contention.py", kind)
    assert result["delay"][function] == pytest.approx(result["truth"][function], rel=0.05)
    assert 0 < result["seen"][function] <= result["counts"][function]


@pytest.mark.parametrize("kind", KINDS)
def test_locks_that_are_free_and_calls_that_do_not_wait_are_no_contention(
    run: Run, kind: str
) -> None:
    assert {"alone", "never_waits"}.isdisjoint(run("contention.py", kind)["leaves"])


def test_each_call_is_tried_unless_its_thread_holds_the_lock(run: Run) -> None:
    # A lock that looks free may be taken before the call: its wait would not be counted.
    assert run("contention.py", "free") == {"free": 200, "recursive": 200, "held": 101}


@pytest.mark.parametrize("kind", KINDS)
def test_patched_lock_methods_reject_wrong_arguments(run: Run, kind: str) -> None:
    assert run("contention.py", kind)["counts"]["errors"] == 4 * 100


@pytest.mark.measurement
def test_waits_of_queues_and_conditions_are_seen(run: Run) -> None:
    result = run("contention.py", "condition")
    assert result["delay"]["Queue.get"] == pytest.approx(
        result["truth"]["waits_for_work"], rel=0.05
    )


def test_waits_for_work_are_left_out_and_counted(run: Run) -> None:
    result = run("idle_waits.py")
    left_out = {"pool_thread", "listener", "joins", "Condition.wait", "Thread.join"}
    assert left_out.isdisjoint(result["out"])
    assert result["out"]["left out"] > 40
    assert (result["included"]["left out"], result["out"]["fights"] > 0) == (0, True)
    assert result["included"]["Queue.get"] > 2 * result["included"]["fights"], (
        "they would bury the lock"
    )


@pytest.mark.measurement
def test_locks_are_seen_in_full_beside_waits_for_work(run: Run) -> None:
    result = run("idle_waits.py")
    for kind in ("out", "included"):
        assert result[kind]["fights"] == pytest.approx(result[f"truth {kind}"], rel=0.05)
    assert result["out"]["puts"] > 0.3e9, "the mutex of a queue, which its producers hold"


@pytest.mark.measurement
def test_a_wait_that_is_not_over_counts_until_the_end(run: Run) -> None:
    result = run("contention.py", "open")
    assert result["seen"] == pytest.approx(result["lasted"], rel=0.1)
    assert result["later"] < result["lasted"] / 2, "it is not counted again"


def test_locks_work_in_a_forked_child(run: Run) -> None:
    assert run("contention_forks.py")["codes"] == [0] * 8


def test_hundreds_of_captures_under_lock_contention_leak_nothing(run: Run) -> None:
    result = run("contention_storm.py", 300)
    assert result["waits"] > 0
    assert result["restored"]
    assert result["grown"] < 1 << 20


def test_contention_is_supported_on_this_machine() -> None:
    assert _native.contention_supported() is None


def test_capture_without_waits_is_empty() -> None:
    _native.start("contention")
    raw = _native.stop()
    assert (raw["kind"], read_stacks(raw)) == ("contention", [])


@pytest.mark.parametrize(
    "idle", [(1,), ((1, None),), ((test_contention_is_supported_on_this_machine, None),)]
)
def test_idle_waits_that_are_no_code_objects_are_rejected(idle: Any) -> None:
    with pytest.raises(TypeError, match="idle must"):
        _native.start("contention", idle=idle)
    assert not _native.running()


def test_too_many_idle_waits_are_rejected() -> None:
    code = test_contention_is_supported_on_this_machine.__code__
    with pytest.raises(ValueError, match="the number of idle waits is 33"):
        _native.start("contention", idle=((code, None),) * 33)
