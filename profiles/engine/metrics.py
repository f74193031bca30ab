"""Metrics: what the values of a sample mean, after names and units were normalised."""

from collections.abc import Sequence
from typing import NamedTuple


class Metric(NamedTuple):
    """A kind of value: its name and unit, normalised (times in nanoseconds, sizes in bytes)."""

    name: str
    unit: str


# The metric that a profile type is shown by, unless another is chosen.
DEFAULT_METRICS = {
    "CPU": Metric("cpu", "nanoseconds"),
    "WALL": Metric("wall", "nanoseconds"),
    "HEAP": Metric("inuse_space", "bytes"),
    "PEAK_HEAP": Metric("inuse_space", "bytes"),
    "HEAP_ALLOC": Metric("alloc_space", "bytes"),
    "CONTENTION": Metric("delay", "nanoseconds"),
    "THREADS": Metric("thread", "count"),
}

# What else is shown, in this order, where a profile lacks the metric above.
SECOND_CHOICE = {"THREADS": (Metric("goroutine", "count"),)}

# Unit as met, in lower case: (normal unit, factor). Sizes are powers of 1024, as in pprof.
_UNITS = {
    **dict.fromkeys(("nanoseconds", "nanosecond", "ns"), ("nanoseconds", 1)),
    **dict.fromkeys(("microseconds", "microsecond", "us", "µs", "μs"), ("nanoseconds", 10**3)),
    **dict.fromkeys(("milliseconds", "millisecond", "ms"), ("nanoseconds", 10**6)),
    **dict.fromkeys(("seconds", "second", "sec", "s"), ("nanoseconds", 10**9)),
    **dict.fromkeys(("minutes", "minute", "min"), ("nanoseconds", 60 * 10**9)),
    **dict.fromkeys(("hours", "hour", "h"), ("nanoseconds", 3600 * 10**9)),
    **dict.fromkeys(("bytes", "byte", "b"), ("bytes", 1)),
    **dict.fromkeys(("kilobytes", "kilobyte", "kb", "kib"), ("bytes", 2**10)),
    **dict.fromkeys(("megabytes", "megabyte", "mb", "mib"), ("bytes", 2**20)),
    **dict.fromkeys(("gigabytes", "gigabyte", "gb", "gib"), ("bytes", 2**30)),
    **dict.fromkeys(("count", "counts", "samples", "sample", "objects", "object"), ("count", 1)),
}

# (profile type, name as met, normal unit): the name that it goes by here.
_NAMES = {
    ("CPU", "cpu_time", "nanoseconds"): "cpu",
    ("CPU", "itimer", "nanoseconds"): "cpu",
    ("CPU", "sample", "count"): "samples",
    ("WALL", "wall_time", "nanoseconds"): "wall",
    ("WALL", "time", "nanoseconds"): "wall",
    ("WALL", "samples", "count"): "sample",
    ("HEAP", "space", "bytes"): "inuse_space",
    ("HEAP", "objects", "count"): "inuse_objects",
    ("PEAK_HEAP", "space", "bytes"): "inuse_space",
    ("PEAK_HEAP", "objects", "count"): "inuse_objects",
    ("HEAP_ALLOC", "space", "bytes"): "alloc_space",
    ("HEAP_ALLOC", "objects", "count"): "alloc_objects",
    ("CONTENTION", "contention", "count"): "contentions",
    ("CONTENTION", "delay_time", "nanoseconds"): "delay",
    ("THREADS", "threads", "count"): "thread",
    ("THREADS", "goroutines", "count"): "goroutine",
}

_HEAPS = frozenset({"HEAP", "PEAK_HEAP"})


def normalise(profile_type: str, name: str, unit: str) -> tuple[Metric, int]:
    """The metric that a sample type means, and the factor that its values are multiplied by."""
    normal, factor = _UNITS.get(unit.lower(), (unit, 1))
    return Metric(_NAMES.get((profile_type, name, normal), name), normal), factor


def default_of(profile_type: str, metrics: Sequence[Metric], named: str = "") -> int:
    """Index of the metric that is shown first: the type's own, else `named`, else the last."""
    wanted = (DEFAULT_METRICS.get(profile_type), *SECOND_CHOICE.get(profile_type, ()))
    for metric in wanted:
        if metric in metrics:
            return metrics.index(metric)
    names = [metric.name for metric in metrics]
    return names.index(named) if named in names else len(metrics) - 1


def dropped_when_zero(profile_type: str, metric: Metric) -> bool:
    """Whether a column of nothing but zeros is left out: what Go's heap says of allocations."""
    return profile_type in _HEAPS and metric.name.startswith("alloc_")
