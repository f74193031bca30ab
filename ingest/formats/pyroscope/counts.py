"""Profile type and metrics of stacks with one count each, by what Pyroscope's clients state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric
from projects.profile_types import ProfileType

DEFAULT_SAMPLE_RATE = 100  # Hz
MAX_SAMPLE_RATE = 10**9  # Hz, one sample a nanosecond


@dataclass(frozen=True, slots=True)
class CountMeaning:
    """Type of a profile, and its metrics with the factor of each on a stack's count."""

    type: ProfileType
    metrics: tuple[Metric, ...]
    factors: tuple[int, ...]
    contention: str = ""  # mutex or block, for CONTENTION


class SuffixedName(NamedTuple):
    """Application name split into the service and the suffix that states the profile type."""

    service: str
    suffix: str  # "" without a known one


_CPU, _WALL = ("cpu", "itimer"), ("wall",)
_OBJECTS, _BYTES = "count", "bytes"
# Types of one metric: (type, metric, kind of contention).
_OF_SUFFIX: Mapping[str, tuple[ProfileType, Metric, str]] = {
    "inuse_objects": (ProfileType.HEAP, Metric("inuse_objects", _OBJECTS), ""),
    "inuse_space": (ProfileType.HEAP, Metric("inuse_space", _BYTES), ""),
    "alloc_objects": (ProfileType.HEAP_ALLOC, Metric("alloc_objects", _OBJECTS), ""),
    "alloc_space": (ProfileType.HEAP_ALLOC, Metric("alloc_space", _BYTES), ""),
    **{
        f"alloc_{tlab}_tlab_{counted}": (
            ProfileType.HEAP_ALLOC,
            Metric(f"alloc_{tlab}_tlab_{counted}", unit),
            "",
        )
        for tlab in ("in_new", "outside")
        for counted, unit in (("objects", _OBJECTS), ("bytes", _BYTES))
    },
    "goroutines": (ProfileType.THREADS, Metric("goroutine", "count"), ""),
    "mutex_count": (ProfileType.CONTENTION, Metric("contentions", "count"), "mutex"),
    "mutex_duration": (ProfileType.CONTENTION, Metric("delay", "nanoseconds"), "mutex"),
    "block_count": (ProfileType.CONTENTION, Metric("contentions", "count"), "block"),
    "block_duration": (ProfileType.CONTENTION, Metric("delay", "nanoseconds"), "block"),
    "lock_count": (ProfileType.CONTENTION, Metric("contentions", "count"), "block"),
    "lock_duration": (ProfileType.CONTENTION, Metric("delay", "nanoseconds"), "block"),
}
_SUFFIX_OF_UNITS: Mapping[str, str] = {
    "goroutines": "goroutines",
    "lock_samples": "lock_count",
    "lock_nanoseconds": "lock_duration",
}
_UNSUPPORTED = ("exceptions",)
_SUFFIXES = frozenset({*_CPU, *_WALL, *_OF_SUFFIX, *_UNSUPPORTED})


def split_name(name: str) -> SuffixedName:
    """Split a suffix such as `.cpu` or `.alloc_space` off an application name."""
    service, _, suffix = name.rpartition(".")
    if service and suffix in _SUFFIXES:
        return SuffixedName(service, suffix)
    return SuffixedName(name, "")


def find_meaning(suffix: str, units: str, aggregation: str, sample_rate: int) -> CountMeaning:
    """Return what the counts of a profile mean.

    `suffix` is that of the name, `units` and `aggregation` the parameters `units` and
    `aggregationType`, `sample_rate` is in Hz. The suffix takes precedence; without one, and with
    units that say nothing else, counts are samples of CPU time. Raise BadProfile for types that
    cannot be stored.
    """
    if suffix in _UNSUPPORTED:
        raise BadProfile(f"Profiles of the type {suffix} are not supported.")
    if suffix in _WALL:
        return _build_meaning(ProfileType.WALL, "sample", "wall", sample_rate)
    if suffix not in _CPU:
        suffix = suffix or _find_suffix(units, aggregation)
    if suffix not in _OF_SUFFIX:
        return _build_meaning(ProfileType.CPU, "samples", "cpu", sample_rate)
    type_, metric, contention = _OF_SUFFIX[suffix]
    return CountMeaning(type_, (metric,), (1,), contention)


def _find_suffix(units: str, aggregation: str) -> str:
    if units in {"objects", "bytes"}:
        counted = "objects" if units == "objects" else "space"
        return f"{'inuse' if aggregation == 'average' else 'alloc'}_{counted}"
    return _SUFFIX_OF_UNITS.get(units, "")


def _build_meaning(type_: ProfileType, samples: str, time: str, rate: int) -> CountMeaning:
    metrics = Metric(samples, "count"), Metric(time, "nanoseconds")
    return CountMeaning(type_, metrics, (1, 10**9 // rate))
