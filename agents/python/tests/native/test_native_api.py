"""Python functions of the sampler, in the tests' own process."""

import threading
import time
from collections.abc import Iterator

import pytest

from flamewatch import _native
from flamewatch.capture.profile_types import Kind
from flamewatch.capture.stacks import read_stacks


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    if _native.running():
        _native.stop()


def test_a_capture_runs_from_start_to_stop() -> None:
    assert not _native.running()
    _native.start("wall")
    assert _native.running()
    raw = _native.stop()
    assert not _native.running()
    assert (raw["kind"], raw["period_ns"]) == ("wall", 10_000_000)


def test_there_is_one_capture_at_a_time() -> None:
    _native.start("wall")
    with pytest.raises(RuntimeError, match="a capture is running"):
        _native.start("cpu")


def test_stop_without_a_capture_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="no capture is running"):
        _native.stop()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"period_us": 99}, "period_us is 99; it must be from 100 to 1000000"),
        ({"max_depth": 0}, "max_depth is 0"),
        ({"max_depth": 2049}, "max_depth is 2049"),
        ({"max_threads": 0}, "max_threads is 0"),
        ({"max_bytes": 1000}, "max_bytes is 1000"),
        ({"exclude": range(17)}, "excluded threads is 17"),
    ],
)
def test_arguments_out_of_range_are_named(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.start("cpu", **arguments)  # type: ignore[arg-type]
    assert not _native.running()


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="kind is 'heap'"):
        _native.start("heap")  # type: ignore[arg-type]


def test_times_of_a_capture_are_those_of_the_clock() -> None:
    before = time.time_ns()
    _native.start("wall")
    _native.wait(0.05)
    raw = _native.stop()
    assert before <= raw["started_ns"] <= time.time_ns()
    assert raw["duration_ns"] >= 50_000_000


def test_another_thread_may_wait_for_the_capture_to_end() -> None:
    seen: list[int] = []

    def capture() -> None:
        _native.start("wall", period_us=1000)
        _native.wait(0.2)
        seen.append(len(read_stacks(_native.stop())))

    thread = threading.Thread(target=capture)
    thread.start()
    thread.join()
    assert seen[0] >= 2


def test_wait_ends_by_itself() -> None:
    assert _native.wait(0.001) is False


def test_wake_before_a_wait_ends_it_at_once() -> None:
    _native.wake()
    assert _native.wait(60) is True


def test_wake_ends_the_wait_of_another_thread() -> None:
    woken: list[bool] = []
    thread = threading.Thread(target=lambda: woken.append(_native.wait(60)))
    thread.start()
    _native.wake()
    thread.join(30)
    assert woken == [True]


@pytest.mark.parametrize("seconds", [-1, float("nan"), 1e9])
def test_wait_rejects_invalid_times(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds must be from 0"):
        _native.wait(seconds)


def test_thread_id_is_that_of_the_kernel() -> None:
    assert _native.thread_id() == threading.get_native_id()


@pytest.mark.parametrize("kind", ["cpu", "wall", "threads"])
def test_a_capture_says_how_much_memory_it_took(kind: Kind) -> None:
    _native.start(kind)
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
    assert 10_000 < _native.stop()["memory_bytes"] < 8 << 20
