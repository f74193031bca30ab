"""Profile types and metrics of OTLP's sample types."""

from typing import NamedTuple

from profiles.engine.metrics import Metric, normalise_unit
from projects.profile_types import ProfileType


class ValueType(NamedTuple):
    """Type and unit of a value, as they were sent."""

    name: str
    unit: str

    def __str__(self) -> str:
        return f"{self.name or '(no name)'}/{self.unit or '(no unit)'}"


# Names in lower case, with underscores for hyphens. docs/guide/opentelemetry.md lists them.
NAMES = {
    ProfileType.CPU: (
        *("cpu", "on_cpu", "cpu_time", "process_cpu", "cpu_samples", "cpu_clock", "task_clock"),
        *("cycles", "cpu_cycles", "itimer", "ctimer", "perf_events", "instrument"),
    ),
    ProfileType.WALL: (
        *("wall", "wall_time", "wallclock", "wall_clock", "wall_samples", "time", "j9_wall"),
    ),
    ProfileType.HEAP: (
        *("inuse_space", "inuse_objects", "inuse_bytes", "live", "live_bytes", "live_objects"),
        *("heap_live_size", "heap_live_samples"),
    ),
    ProfileType.HEAP_ALLOC: (
        *("alloc", "alloc_space", "alloc_objects", "alloc_bytes", "alloc_size", "alloc_samples"),
        *("allocated_space", "allocated_objects", "allocated_bytes", "nativemem", "malloc"),
        *("allocations", "object_sampler", "j9_object_sampler", "alloc_tracer", "malloc_tracer"),
    ),
    ProfileType.CONTENTION: (
        *("delay", "contention", "contentions", "lock", "lock_time", "lock_count", "mutex"),
        *("block", "nativelock", "off_cpu", "offcpu"),
        *("locks", "lock_tracer", "native_lock_tracer"),
    ),
    ProfileType.THREADS: ("goroutine", "goroutines", "thread", "threads"),
}
# Names that count samples of any type; the type of the period tells which.
SAMPLES = ("samples", "sample", "events")

_TYPES = {name: profile_type for profile_type, names in NAMES.items() for name in names}
_OTHER_NAMES = {
    "allocated_space": "alloc_space",
    "allocated_bytes": "alloc_space",
    "allocated_objects": "alloc_objects",
    "offcpu": "off_cpu",
    # Engines of async-profiler.
    "j9_wall": "wall",
    "perf_events": "cpu",
    **dict.fromkeys(
        ("allocations", "object_sampler", "j9_object_sampler", "alloc_tracer"), "alloc"
    ),
    "malloc_tracer": "malloc",
    "locks": "lock",
    "lock_tracer": "lock",
    "native_lock_tracer": "nativelock",
}
# Engines of async-profiler that count something else than time: events of the processor or the
# kernel, and calls of a method. Their units are "total" and "calls".
_COUNTED = {"perf_events": "events", "instrument": "calls"}
# Time of one sample; it is derived from the period of a profile that only counts samples.
TIME_METRICS = {
    ProfileType.CPU: Metric("cpu", "nanoseconds"),
    ProfileType.WALL: Metric("wall", "nanoseconds"),
}


def find_profile_type(sample: ValueType, period: ValueType) -> ProfileType | None:
    """Return the profile type of a sample type, None if it is unknown.

    Counted samples have the type of their period, without one CPU.
    """
    name = _plain(sample.name)
    found = _TYPES.get(name)
    if found is not None:
        return found
    unit, _ = normalise_unit(sample.unit)
    if name == "events" and unit == "nanoseconds":  # off-CPU time of older eBPF profilers
        return ProfileType.CONTENTION
    if name in SAMPLES and unit in ("count", ""):
        of_period = _plain(period.name)
        return _TYPES.get(of_period) if of_period not in ("", *SAMPLES) else ProfileType.CPU
    return None


def counts_samples(sample: ValueType) -> bool:
    """Return True for a number of samples, whose profile type only the period tells."""
    return _plain(sample.name) in SAMPLES and normalise_unit(sample.unit)[0] in ("count", "")


def choose_metric(sample: ValueType, profile_type: ProfileType) -> tuple[Metric, int]:
    """Return the metric of a supported sample type, and the factor to multiply its values by."""
    name = _plain(sample.name)
    unit, factor = normalise_unit(sample.unit or "count")
    if name in _COUNTED and unit in ("total", "calls"):
        return Metric(_COUNTED[name], "count"), factor
    if profile_type in TIME_METRICS and unit == "count":
        return Metric("samples", "count"), factor
    if name == "events" and unit == "nanoseconds":
        name = "off_cpu"
    return Metric(_OTHER_NAMES.get(name, name), unit), factor


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
