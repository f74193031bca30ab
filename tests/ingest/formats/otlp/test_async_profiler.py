"""Captures of async-profiler, of each of its engines."""

import pytest

from tests.ingest.formats.otlp import async_profiler
from tests.ingest.formats.otlp.conversions import convert

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
