"""Memory profiles, from the allocators to pprof."""

import threading
from collections.abc import Iterator

import pytest
from drawn_blocks import MIB, large_objects, total_in
from pprof_reader import ReadProfile, read

from flamewatch import _native
from flamewatch.capture.native_heap import NativeHeap
from flamewatch.capture.native_sampler import NativeSampler
from flamewatch.capture.profile_types import ProfileType
from flamewatch.profile import pprof
from flamewatch.profile.build import build_profile

ALLOCATE = "test_heap_profiles.allocate"


@pytest.fixture
def sampler() -> Iterator[NativeSampler]:
    sampler = NativeSampler(_native, heap=NativeHeap(_native))
    yield sampler
    sampler.close()
    assert not _native.heap_running()


def captured(sampler: NativeSampler, kind: ProfileType, work: object = None) -> ReadProfile:
    """Capture like the worker: in a thread of its own, while another thread works."""
    found: list[ReadProfile] = []

    def wait(seconds: float) -> bool:
        if callable(work):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        return False

    def capture() -> None:
        sampler.stay_apart()
        taken = sampler.capture(kind, 10, wait)
        found.append(read(pprof.encode(build_profile(kind, taken, sampler.name, 0))))

    thread = threading.Thread(target=capture)
    thread.start()
    thread.join()
    return found[0]


def allocate() -> None:
    for _ in range(400):
        bytearray(MIB)


def test_heap_alloc_shows_what_was_allocated_and_freed(sampler: NativeSampler) -> None:
    found = captured(sampler, ProfileType.HEAP_ALLOC, allocate)
    assert found.default_metric == "alloc_space"
    assert total_in(found, ALLOCATE, "alloc_space") == pytest.approx(400 * MIB, rel=0.15)
    assert large_objects(found, ALLOCATE, 400) == pytest.approx(400, rel=0.15)
    assert total_in(found, ALLOCATE, "inuse_space") == 0
    assert found.duration_ns > 0


def test_heap_shows_what_is_in_use(sampler: NativeSampler) -> None:
    never_responds: list[bytearray] = []
    work = lambda: never_responds.extend(bytearray(MIB) for _ in range(200))  # noqa: E731
    found = captured(sampler, ProfileType.HEAP, work)
    assert found.metrics == [
        ("alloc_objects", "count"),
        ("alloc_space", "bytes"),
        ("inuse_objects", "count"),
        ("inuse_space", "bytes"),
    ]
    assert found.default_metric == "inuse_space"
    assert found.total("inuse_space") == pytest.approx(200 * MIB, rel=0.2)
    assert found.duration_ns == 0
    never_responds.clear()
    assert captured(sampler, ProfileType.HEAP).total("inuse_space") < 10 * MIB


def test_the_period_is_the_mean_distance_between_samples(sampler: NativeSampler) -> None:
    found = captured(sampler, ProfileType.HEAP)
    assert (found.period, found.period_type) == (512 << 10, ("space", "bytes"))


def test_the_profile_says_since_when_memory_was_counted(sampler: NativeSampler) -> None:
    first = captured(sampler, ProfileType.HEAP).comment("counted_since")
    assert first.endswith("Z")
    assert captured(sampler, ProfileType.HEAP_ALLOC).comment("counted_since") == first


def reported_ns(found: ReadProfile) -> int:
    return int(found.comment("sampler_cpu_ns"))


def test_the_cost_of_samples_is_reported_once(sampler: NativeSampler) -> None:
    first = reported_ns(captured(sampler, ProfileType.HEAP, allocate))
    assert first > 0
    assert reported_ns(captured(sampler, ProfileType.HEAP)) < first / 4
    allocate()
    assert reported_ns(captured(sampler, ProfileType.HEAP_ALLOC)) > first / 4
    assert reported_ns(captured(sampler, ProfileType.HEAP)) < first / 4


class FakeHeap:
    """Native module that counts since `since_ns`, with `torn` samples dropped so far."""

    def __init__(self) -> None:
        self.since_ns, self.torn = 1, 0

    def heap_start(self, **_: object) -> bool:
        return False

    def heap_mark(self) -> None:
        pass

    def heap_read(self, kind: str) -> dict[str, object]:
        counts = dict.fromkeys(("table_full", "foreign", "cut", "forgotten", "lost", "spent_ns"), 0)
        fixed = {"started_ns": 1, "duration_ns": 0, "mean_bytes": 1, "table_bytes": 1}
        empty = {"stacks": b"", "frames": b"", "codes": [], "labels": [], "memory": b""}
        variable = {"kind": kind, "since_ns": self.since_ns, "counts": counts | {"torn": self.torn}}
        return {**fixed, **empty, **variable}


def test_dropped_heap_sample_is_reported_once() -> None:
    native = FakeHeap()
    heap = NativeHeap(native)

    def dropped(torn: int) -> int:
        native.torn = torn
        return heap.capture(ProfileType.HEAP, 0, lambda _: False).dropped["torn"]

    assert [dropped(3), dropped(3), dropped(5)] == [3, 0, 2]
    native.since_ns = 2  # counting restarted, as in a forked child
    assert dropped(4) == 4


def test_without_hooks_memory_is_not_on_offer() -> None:
    assert set(NativeSampler(_native).types) == {*ProfileType} - {
        ProfileType.HEAP,
        ProfileType.HEAP_ALLOC,
    }
