import pytest
from fakes import MAIN, WORK, capture
from pprof_reader import ReadProfile, read

from flamewatch.capture.profile_types import ProfileType
from flamewatch.capture.sampler import Capture
from flamewatch.capture.stacks import Stack
from flamewatch.profile import pprof
from flamewatch.profile.build import build_profile


def encoded(kind: ProfileType, taken: Capture) -> ReadProfile:
    return read(pprof.encode(build_profile(kind, taken, "native", 1234)))


@pytest.mark.parametrize(
    ("kind", "metrics", "values"),
    [
        (ProfileType.CPU, [("samples", "count"), ("cpu", "nanoseconds")], (3, 30)),
        (ProfileType.WALL, [("sample", "count"), ("wall", "nanoseconds")], (3, 30)),
        (ProfileType.THREADS, [("thread", "count")], (30,)),
    ],
)
def test_each_type_has_its_metrics(
    kind: ProfileType, metrics: list[tuple[str, str]], values: tuple[int, ...]
) -> None:
    found = encoded(kind, capture(Stack((WORK, MAIN), 30, 3, 7, "", cut=False)))
    assert found.metrics == metrics
    assert found.default_metric == metrics[-1][0]
    assert found.samples[0].values == values


def test_time_period_and_duration_are_those_of_the_capture() -> None:
    found = encoded(ProfileType.CPU, capture())
    assert found.time_ns == 1_700_000_000_000_000_000
    assert found.duration_ns == 10_000_000_000
    assert (found.period, found.period_type) == (10_000_000, ("cpu", "nanoseconds"))


def test_cut_stack_ends_with_a_marker_frame() -> None:
    found = encoded(ProfileType.CPU, capture(Stack((WORK,), 10, 1, 7, "", cut=True)))
    assert [frame.function for frame in found.samples[0].frames] == [
        "work",
        "(deeper than 512 frames)",
    ]


def test_a_wait_for_the_gil_is_a_frame_at_the_leaf() -> None:
    stack = Stack((WORK, MAIN), 10, 1, 7, "", cut=True, waits_for_gil=True)
    found = encoded(ProfileType.WALL, capture(stack))
    names = [frame.function for frame in found.samples[0].frames]
    assert names == ["(waiting for the GIL)", "work", MAIN.function, "(deeper than 512 frames)"]


def test_threads_are_labelled_only_where_names_were_taken() -> None:
    named = Stack((WORK,), 10, 1, 7, "worker-1", cut=False)
    assert encoded(ProfileType.CPU, capture(named)).samples[0].labels == {"thread": "worker-1"}
    assert encoded(ProfileType.CPU, capture()).samples[0].labels == {}


def test_a_profile_has_its_cost_and_dropped_samples() -> None:
    taken = capture(dropped={"torn": 2, "no_slot": 0, "table_full": 1}, notes={"cut": 4})
    found = encoded(ProfileType.CPU, taken)
    assert found.comment("samples") == "3"
    assert found.comment("samples_dropped") == "3"
    assert found.comment("samples_dropped.torn") == "2"
    assert found.comment("cut") == "4"
    assert found.comment("sampler_cpu_ns") == "5000"
    assert found.comment("agent_cpu_ns") == "1234"
    assert found.comment("agent_memory_bytes") == "70000"
    assert found.comment("agent").startswith("flamewatch-python/")
    assert "flamewatch.samples_dropped.no_slot=0" not in found.comments
    unknown = encoded(ProfileType.CPU, capture(memory_bytes=0)).comments
    assert not [comment for comment in unknown if "memory" in comment]
