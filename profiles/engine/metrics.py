"""Metrics of sample values, with normalised names and units."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple


class Metric(NamedTuple):
    """Kind of value: its name and unit, normalised (times in nanoseconds, sizes in bytes)."""

    name: str
    unit: str


# Metric that is shown for a profile type, unless another is chosen.
DEFAULT_METRICS = {
    "CPU": Metric("cpu", "nanoseconds"),
    "WALL": Metric("wall", "nanoseconds"),
    "HEAP": Metric("inuse_space", "bytes"),
    "PEAK_HEAP": Metric("inuse_space", "bytes"),
    "HEAP_ALLOC": Metric("alloc_space", "bytes"),
    "CONTENTION": Metric("delay", "nanoseconds"),
    "THREADS": Metric("thread", "count"),
}

# Fallbacks, in this order, for profiles without the metric above.
SECOND_CHOICE = {"THREADS": (Metric("goroutine", "count"),)}

# Unit in lower case: (normal unit, factor). Sizes are powers of 1024, as in pprof.
_UNITS = {
    **dict.fromkeys(("nanoseconds", "nanosecond", "nanos", "ns"), ("nanoseconds", 1)),
    **dict.fromkeys(("microseconds", "microsecond", "us", "µs", "μs"), ("nanoseconds", 10**3)),
    **dict.fromkeys(("milliseconds", "millisecond", "ms"), ("nanoseconds", 10**6)),
    **dict.fromkeys(("seconds", "second", "sec", "s"), ("nanoseconds", 10**9)),
    **dict.fromkeys(("minutes", "minute", "min"), ("nanoseconds", 60 * 10**9)),
    **dict.fromkeys(("hours", "hour", "h"), ("nanoseconds", 3600 * 10**9)),
    **dict.fromkeys(("bytes", "byte", "by", "b"), ("bytes", 1)),
    **dict.fromkeys(("kilobytes", "kilobyte", "kb", "kib"), ("bytes", 2**10)),
    **dict.fromkeys(("megabytes", "megabyte", "mb", "mib"), ("bytes", 2**20)),
    **dict.fromkeys(("gigabytes", "gigabyte", "gb", "gib"), ("bytes", 2**30)),
    **dict.fromkeys(("count", "counts", "samples", "sample", "objects", "object"), ("count", 1)),
}

# Aliases in lower case, by profile type and canonical (name, unit). Only names for the whole of a
# metric: JFR splits allocations into several metrics, which stay separate.
_ALIASES: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {
    "CPU": {
        ("cpu", "nanoseconds"): ("cpu_time", "cpu-time", "itimer", "ctimer", "on_cpu"),
        ("samples", "count"): ("sample", "cpu_samples", "cpu-samples"),
    },
    "WALL": {
        ("wall", "nanoseconds"): ("wall_time", "wall-time", "wallclock", "time"),
        ("sample", "count"): ("samples", "wall_samples", "wall-samples"),
    },
    "HEAP": {
        ("inuse_space", "bytes"): ("space", "live", "inuse_bytes", "heap-live-size"),
        ("inuse_objects", "count"): ("objects", "live", "live_objects", "heap-live-samples"),
        ("alloc_space", "bytes"): ("alloc", "alloc_bytes", "alloc-size"),
        ("alloc_objects", "count"): ("alloc", "alloc_count", "alloc-samples"),
    },
    "HEAP_ALLOC": {
        ("alloc_space", "bytes"): (
            *("space", "alloc", "alloc_bytes", "alloc-size", "alloc_sample_bytes"),
        ),
        ("alloc_objects", "count"): (
            *("objects", "alloc", "alloc_count", "alloc-samples", "alloc_sample_objects"),
        ),
    },
    "CONTENTION": {
        ("delay", "nanoseconds"): ("delay_time", "lock", "lock_time", "lock_duration"),
        ("contentions", "count"): ("contention", "lock", "lock_count"),
    },
    "THREADS": {
        ("thread", "count"): ("threads",),
        ("goroutine", "count"): ("goroutines",),
    },
}
_ALIASES["PEAK_HEAP"] = _ALIASES["HEAP"]

# (profile type, name in lower case, normal unit): canonical name.
_NAMES = {
    (profile_type, alias, unit): name
    for profile_type, metrics in _ALIASES.items()
    for (name, unit), aliases in metrics.items()
    for alias in aliases
}

_HEAPS = frozenset({"HEAP", "PEAK_HEAP"})


def normalise_unit(unit: str) -> tuple[str, int]:
    """Return the normal unit, and the factor that turns values into it."""
    return _UNITS.get(unit.lower(), (unit, 1))


def normalise(profile_type: str, name: str, unit: str) -> tuple[Metric, int]:
    """Return the metric of a sample type, and the factor to multiply its values by."""
    normal, factor = normalise_unit(unit)
    lower = name.lower()
    return Metric(_NAMES.get((profile_type, lower, normal), lower), normal), factor


@lru_cache(maxsize=256)
def canonical(profile_type: str, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """Return the canonical names, as queries use them, of the distinct metrics of one profile.

    Units are normalised already. Stored profiles keep the names that they were uploaded with, so
    every reader of stored names calls this. If several metrics have the same canonical name, one
    gets it (an exact match first) and the others keep theirs, so that nothing is counted twice.
    Without a profile type all names stay.
    """
    if not profile_type:
        return metrics
    named = [_same_unit(profile_type, metric) for metric in metrics]
    exact = set(metrics).intersection(named)
    found: list[Metric] = []
    for metric, name in zip(metrics, named, strict=True):
        is_free = metric == name or (name not in exact and name not in found)
        found.append(name if is_free else metric)
    return tuple(found)


def _same_unit(profile_type: str, metric: Metric) -> Metric:
    """Return the canonical metric, or `metric` if its values would have to be multiplied."""
    found, factor = normalise(profile_type, *metric)
    return found if factor == 1 else metric


def find_default(profile_type: str, metrics: Sequence[Metric], named: str = "") -> int:
    """Return the index of the default metric: the type's own, else `named`, else the last."""
    preferred = (DEFAULT_METRICS.get(profile_type), *SECOND_CHOICE.get(profile_type, ()))
    for metric in preferred:
        if metric in metrics:
            return metrics.index(metric)
    names = [metric.name for metric in metrics]
    return names.index(named) if named in names else len(metrics) - 1


def is_dropped_when_zero(profile_type: str, metric: Metric) -> bool:
    """Return True if a column of zeros is dropped: Go's heap profiles report such allocations."""
    return profile_type in _HEAPS and metric.name.startswith("alloc_")
