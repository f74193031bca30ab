"""Captures of async-profiler, of each of its engines."""

import pytest

from tests.ingest.formats.otlp import async_profiler
from tests.ingest.formats.otlp.conversions import convert, sample

# Engine, unit, profile type, metric of counts, metric of totals.
ENGINES = [
    ("ctimer", "ns", "CPU", "samples/count", "cpu/nanoseconds"),
    ("itimer", "ns", "CPU", "samples/count", "cpu/nanoseconds"),
    ("perf_events", "ns", "CPU", "samples/count", "cpu/nanoseconds"),
    ("wall", "ns", "WALL", "sample/count", "wall/nanoseconds"),
    ("j9_wall", "ns", "WALL", "sample/count", "wall/nanoseconds"),
    ("object_sampler", "bytes", "HEAP_ALLOC", "alloc_objects/count", "alloc_space/bytes"),
    ("j9_object_sampler", "bytes", "HEAP_ALLOC", "alloc_objects/count", "alloc_space/bytes"),
    ("alloc_tracer", "bytes", "HEAP_ALLOC", "alloc_objects/count", "alloc_space/bytes"),
    ("malloc_tracer", "bytes", "HEAP_ALLOC", "malloc/count", "malloc/bytes"),
    ("lock_tracer", "ns", "CONTENTION", "contentions/count", "delay/nanoseconds"),
    # Another event than the processor's clock, and calls of a method.
    ("perf_events", "total", "CPU", "samples/count", "events/count"),
    ("instrument", "calls", "CPU", "samples/count", "calls/count"),
    ("native_lock_tracer", "ns", "CONTENTION", "nativelock/count", "nativelock/nanoseconds"),
]
# Types of its converter from JFR.
CONVERTED = [
    ("cpu", "nanoseconds", "CPU", "samples/count", "cpu/nanoseconds"),
    ("allocations", "bytes", "HEAP_ALLOC", "alloc_objects/count", "alloc_space/bytes"),
    ("locks", "nanoseconds", "CONTENTION", "contentions/count", "delay/nanoseconds"),
    ("malloc", "bytes", "HEAP_ALLOC", "malloc/count", "malloc/bytes"),
]
STACKS = {"Thread.run;Checkout.pay": 700, "Thread.run;Cart.total": 90}


@pytest.mark.parametrize(("engine", "unit", "kind", "count", "total"), ENGINES)
def test_a_capture_of_4_1_has_both_metrics(
    engine: str, unit: str, kind: str, count: str, total: str
) -> None:
    converted = convert(async_profiler.message_4_1(engine, unit, [(7, 700), (2, 90)]))
    assert not converted.rejections
    (profile,) = converted.profiles
    assert profile.imported.type == kind
    assert profile.totals == {count: 9, total: 790}
    assert profile.stacks == STACKS
    frames = profile.decoded.tree.frames
    assert {frames.strings[file] for file in frames.file.tolist()} == {""}


def test_threads_that_4_2_counts_as_locations_do_not_shift_stacks() -> None:
    body = async_profiler.message_4_1("ctimer", "ns", [(7, 700), (2, 90)], counts_threads=True)
    converted = convert(body)
    (profile,) = converted.profiles
    assert profile.stacks == STACKS
    assert profile.totals == {"samples/count": 9, "cpu/nanoseconds": 790}
    assert not any("out of range" in warning for warning in profile.imported.warnings)


def test_a_capture_of_4_1_lasts_an_assumed_time() -> None:
    (profile,) = convert(async_profiler.message_4_1("wall", "ns", [(1, 1), (1, 1)])).profiles
    assert profile.imported.duration_ns == 10 * 10**9
    assert any("10 s is assumed" in warning for warning in profile.imported.warnings)


@pytest.mark.parametrize(("engine", "unit", "kind", "count", "total"), ENGINES + CONVERTED)
def test_captures_of_4_5_count_samples_or_totals(
    engine: str, unit: str, kind: str, count: str, total: str
) -> None:
    for metric, is_total in ((count, False), (total, True)):
        converted = convert(async_profiler.message_4_5(engine, unit, [700, 90], is_total, 3))
        assert not converted.rejections
        (profile,) = converted.profiles
        assert profile.imported.type == kind
        assert profile.totals[metric] == 790
        assert profile.labels == [{"thread.name": "worker-1"}, {"thread.name": "worker-2"}]
        assert not profile.imported.warnings
    assert profile.stacks == STACKS


ARRAYS = (("byte[]_[i]", "Checkout.pay"), ("java.lang.String_[i]", "Cart.total"))
LARGE_OBJECTS = (("Cart_[i]", "Cart.total"), ("Checkout_[k]", "Checkout.pay"))
PARKED = (
    ("java.lang.Object_[i]", "Checkout.pay"),
    ("java.util.concurrent.locks.ReentrantLock$NonfairSync_[i]", "jdk/internal/misc/Unsafe.park"),
)
UNNAMED = [
    (ARRAYS, "HEAP_ALLOC", "alloc_objects/count", "alloc_space/bytes"),
    (LARGE_OBJECTS, "HEAP_ALLOC", "alloc_objects/count", "alloc_space/bytes"),
    (PARKED, "CONTENTION", "contentions/count", "delay/nanoseconds"),
]


@pytest.mark.parametrize(("stacks", "kind", "count", "total"), UNNAMED)
def test_stacks_decide_the_type_of_captures_without_an_engine(
    stacks: async_profiler.Stacks, kind: str, count: str, total: str
) -> None:
    old = async_profiler.message_4_1("noop", "total", [(7, 700), (2, 90)], stacks=stacks)
    (profile,) = convert(old).profiles
    assert profile.imported.type == kind
    assert profile.totals == {count: 9, total: 790}
    for metric, is_total in ((count, False), (total, True)):
        body = async_profiler.message_4_5("noop", "total", [700, 90], is_total, 0, stacks=stacks)
        (profile,) = convert(body).profiles
        assert profile.imported.type == kind
        assert profile.totals == {metric: 790}


# Captures of real programs that allocate small objects, or enter monitors, on two threads; tests/
# samples/README.md says how they were made.
CAPTURES = [
    ("4.2-allocate", "HEAP_ALLOC", {"alloc_objects/count": 339, "alloc_space/bytes": 177733293}),
    (
        "4.2-allocate-total",
        "HEAP_ALLOC",
        {"alloc_objects/count": 1200, "alloc_space/bytes": 629144400},
    ),
    ("4.2-lock", "CONTENTION", {"contentions/count": 100, "delay/nanoseconds": 66181579}),
    ("4.2-lock-total", "CONTENTION", {"contentions/count": 95, "delay/nanoseconds": 188246942}),
    ("4.3-allocate-total", "HEAP_ALLOC", {"alloc_space/bytes": 1781002939}),
    ("4.3-lock-total", "CONTENTION", {"delay/nanoseconds": 94144002}),
]


@pytest.mark.parametrize(("name", "kind", "totals"), CAPTURES)
def test_values_of_real_captures_distinguish_allocations_from_monitors(
    name: str, kind: str, totals: dict[str, int]
) -> None:
    converted = convert(sample(f"async-profiler/{name}.pb"))
    assert not converted.rejections
    (profile,) = converted.profiles
    assert profile.imported.type == kind
    assert profile.totals == totals


INSTANCES = (("Cart_[i]", "Cart.total"), ("Point_[i]", "Shape.area"))


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([(1000, 524_287_000), (1, 524_287)], "HEAP_ALLOC"),  # the interval
        ([(317, 317 * 24), (211, 211 * 48)], "HEAP_ALLOC"),  # every allocation, by its size
        ([(3, 3 * 65_536 - 8), (2, 2 * 40_000 - 8)], None),  # buffers of threads, up to Java 10
        ([(2, 80_000), (3, 120_120)], None),  # few times, of a clock with a period of 40 ns
        ([(2, 80_001), (3, 120_000)], "CONTENTION"),
        ([(0, 5), (2**64 - 1, 2**64 - 7)], None),
    ],
)
def test_counts_and_totals_decide_the_type_only_beyond_chance(
    rows: list[tuple[int, int]], kind: str | None
) -> None:
    body = async_profiler.message_4_1("noop", "total", rows, stacks=INSTANCES)
    found = [str(profile.imported.type) for profile in convert(body).profiles]
    assert found == ([kind] if kind else [])


@pytest.mark.parametrize("name", ["4.3-allocate", "4.3-lock"])
def test_real_captures_of_counts_alone_are_rejected_with_what_to_do(name: str) -> None:
    converted = convert(sample(f"async-profiler/{name}.pb"))
    assert not converted.profiles
    assert converted.rejections[0].reason.endswith("update to 4.4.")
    assert "option total" in converted.rejections[0].reason


def test_ambiguous_capture_is_rejected_with_the_version_that_is_not() -> None:
    converted = convert(async_profiler.message_4_5("noop", "total", [700, 90], False, 0))
    assert not converted.profiles
    assert converted.rejections[0].reason.endswith("update to 4.4.")
