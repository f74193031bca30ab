"""JFR recordings of the JDK and of async-profiler, and handwritten ones."""

import gzip

import pytest

from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.jfr.importer import import_jfr
from profiles.engine.errors import BadProfile, TooLarge
from projects.profile_types import ProfileType
from tests.ingest.formats import imported
from tests.ingest.formats.jfr.recordings import START_NS, chunk, sample, setting

MAIN, WORK = "com.example.Shop.main", "com.example.Shop.main;com.example.Shop.work"
RUNNABLE, SLEEPING, DEFAULT = 1, 2, 3


def by_type(body: bytes) -> dict[ProfileType, ImportedProfile]:
    return {profile.type: profile for profile in import_jfr(body)}


def test_a_recording_of_the_jdk_has_the_events_that_jfr_summary_counts() -> None:
    found = by_type(imported.sample("jdk-17.jfr.gz"))
    assert imported.totals(found[ProfileType.CPU]) == {"samples": 6, "cpu": 60_000_000}
    assert imported.totals(found[ProfileType.HEAP_ALLOC])["samples"] == 130
    assert imported.totals(found[ProfileType.CONTENTION])["contentions"] == 34
    assert found.keys() == {ProfileType.CPU, ProfileType.HEAP_ALLOC, ProfileType.CONTENTION}
    cpu = found[ProfileType.CPU]
    assert cpu.start_ns is not None
    assert 3 * 10**9 < (cpu.duration_ns or 0) < 4 * 10**9


def test_classes_and_methods_are_readable_and_lines_are_kept() -> None:
    found = by_type(imported.sample("jdk-17.jfr.gz"))
    names = {name for name, _, _ in imported.frames(found[ProfileType.CPU])}
    assert {"com.example.Shop.checkout", "com.example.Shop$$Lambda.run"} <= names
    assert ("com.example.Shop.checkout", "", 25) in imported.frames(found[ProfileType.CPU])
    leaves = {stack.rpartition(";")[2] for stack in imported.stacks(found[ProfileType.HEAP_ALLOC])}
    assert "byte[]" in leaves


def test_a_recording_of_async_profiler_has_all_its_events() -> None:
    found = by_type(imported.sample("async-profiler-4.jfr.gz"))
    assert imported.totals(found[ProfileType.CPU]) == {"samples": 19, "cpu": 190_000_000}
    # 303 events, of which batched ones stand for several samples; the interval is 50 ms.
    assert imported.totals(found[ProfileType.WALL]) == {"sample": 1135, "wall": 56_750_000_000}
    allocated = imported.totals(found[ProfileType.HEAP_ALLOC])
    assert allocated == {"samples": 1735, "alloc_space": 1735 * 262_144}
    assert imported.totals(found[ProfileType.CONTENTION])["contentions"] == 52
    assert imported.totals(found[ProfileType.HEAP])["inuse_space"] > 30 * 10**6


def test_samples_of_cpu_have_the_interval_of_the_settings() -> None:
    period = setting("jdk.ExecutionSample", "period", "10 ms")
    [cpu] = import_jfr(chunk(period, *[sample("jdk.ExecutionSample", 1, RUNNABLE, 0)] * 3))
    assert imported.totals(cpu) == {"samples": 3, "cpu": 30_000_000}
    assert imported.stacks(cpu) == {WORK: 30_000_000}
    assert (cpu.start_ns, cpu.duration_ns) == (START_NS, 10**10)


def test_samples_of_native_code_of_the_jdk_are_wall_time() -> None:
    found = by_type(
        chunk(sample("jdk.ExecutionSample", 1, RUNNABLE, 0), sample("jdk.NativeMethodSample", 2))
    )
    assert imported.stacks(found[ProfileType.CPU]) == {WORK: 20_000_000}
    assert imported.stacks(found[ProfileType.WALL]) == {WORK: 20_000_000, MAIN: 20_000_000}


@pytest.mark.parametrize(
    ("event", "wall", "states", "cpu", "wall_ns"),
    [
        ("cpu", "", [DEFAULT, DEFAULT], 20_000_000, 0),
        ("cpu", "30000000", [DEFAULT, RUNNABLE, SLEEPING], 10_000_000, 60_000_000),
        ("wall", "", [RUNNABLE, SLEEPING], 0, 20_000_000),
        ("itimer", "", [DEFAULT, SLEEPING], 10_000_000, 0),
    ],
)
def test_states_divide_cpu_from_wall_time_in_async_profilers_samples(
    event: str, wall: str, states: list[int], cpu: int, wall_ns: int
) -> None:
    settings = [
        setting("jdk.ActiveRecording", "event", event),
        setting("jdk.ExecutionSample", "interval", "10000000"),
    ]
    if wall:
        settings.append(setting("jdk.ExecutionSample", "wall", wall))
    samples = [sample("jdk.ExecutionSample", 1, state, 0) for state in states]
    found = by_type(chunk(*settings, *samples))
    sums = {type: imported.totals(profile) for type, profile in found.items()}
    assert sums.get(ProfileType.CPU, {}).get("cpu", 0) == cpu
    assert sums.get(ProfileType.WALL, {}).get("wall", 0) == wall_ns


def test_cpu_time_samples_replace_execution_samples() -> None:
    events = [
        sample("jdk.ExecutionSample", 1, RUNNABLE, 0),
        sample("jdk.CPUTimeSample", 2, b"\0", 5_000),
        sample("jdk.CPUTimeSample", 2, b"\1", 5_000),
    ]
    [cpu] = import_jfr(chunk(*events))
    assert imported.totals(cpu) == {"samples": 1, "cpu": 5_000_000}


def test_durations_are_converted_from_ticks() -> None:
    [lock] = import_jfr(chunk(sample("jdk.JavaMonitorEnter", bytes(4), 1_500, 1, 1)))
    assert imported.stacks(lock) == {f"{WORK};com.example.Shop": 1_500_000}


def test_labels_come_from_the_contexts_of_the_events() -> None:
    body = chunk(*[sample("jdk.ExecutionSample", 1, RUNNABLE, context) for context in (0, 7, 8)])
    [cpu] = import_jfr(body, {7: {"endpoint": "/cart"}})
    assert imported.labels(cpu) == {("endpoint", "/cart")}
    assert imported.totals(cpu)["samples"] == 3


def test_profile_sums_all_chunks() -> None:
    one = sample("jdk.ExecutionSample", 1, RUNNABLE, 0)
    second = chunk(one, start_ns=START_NS + 10**10)
    [cpu] = import_jfr(chunk(one) + second + b"rest")
    assert imported.totals(cpu)["samples"] == 2
    assert (cpu.start_ns, cpu.duration_ns) == (START_NS, 2 * 10**10)


def test_samples_without_a_stack_trace_are_reported() -> None:
    samples = [sample("jdk.ExecutionSample", stack, RUNNABLE, 0) for stack in (1, 99)]
    [cpu] = import_jfr(chunk(*samples))
    assert imported.totals(cpu)["samples"] == 1
    assert cpu.warnings == ("CPU samples without a stack trace were left out: 1.",)


def test_equal_recordings_give_equal_profiles() -> None:
    body = imported.sample("async-profiler-4.jfr.gz")
    assert import_jfr(body) == import_jfr(gzip.decompress(body))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"not a recording", "does not begin with FLR"),
        (b"", "empty"),
        (chunk(), "no samples"),
        (chunk(sample("jdk.ExecutionSample", 1, RUNNABLE, 0))[:-9], "truncated"),
        (chunk(b"\x00\x00"), "damaged"),
        (chunk(b"\x7f\x0a"), "damaged"),
    ],
)
def test_damaged_recordings_are_rejected_with_the_reason(body: bytes, words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        import_jfr(body)


def test_a_large_recording_is_rejected_before_it_is_unpacked() -> None:
    with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_PROFILE_BYTES"):
        import_jfr(gzip.compress(bytes(2**20)), max_raw=2**16)
