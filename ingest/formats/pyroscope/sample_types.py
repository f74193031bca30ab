"""Profile types of the sample types of a pprof profile.

A profile may have several: Go sends memory in use and allocations together, Node.js wall and CPU
time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from profiles.engine.metrics import Metric, normalise_unit
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class TypedSamples:
    """Names of the sample types of each profile type, and of those that belong to none."""

    names: dict[ProfileType, tuple[str, ...]]
    unknown: tuple[str, ...] = ()
    contention: str = ""  # mutex or block, if that is known of CONTENTION


# By name in lower case with underscores. Java's names for allocations follow async-profiler.
_HEAP = (
    *("inuse_space", "inuse_objects", "inuse_bytes", "space", "objects"),
    *("live", "live_objects", "heap_live_size", "heap_live_samples"),
)
_HEAP_ALLOC = (
    *("alloc_space", "alloc_objects", "alloc_bytes", "alloc_size", "alloc_samples", "alloc"),
    *("alloc_in_new_tlab_bytes", "alloc_in_new_tlab_objects", "alloc_outside_tlab_bytes"),
    *("alloc_outside_tlab_objects", "alloc_sample_bytes", "alloc_sample_objects"),
)
_CONTENTION = (
    *("contentions", "delay", "contention", "lock", "lock_count", "lock_time", "lock_duration"),
    *("mutex_count", "mutex_duration", "block_count", "block_duration"),
)
_TYPES: Mapping[str, ProfileType] = {
    **dict.fromkeys(("cpu", "cpu_time", "itimer", "on_cpu", "cpu_samples"), ProfileType.CPU),
    **dict.fromkeys(("wall", "wall_time", "wallclock", "wall_samples"), ProfileType.WALL),
    **dict.fromkeys(_HEAP, ProfileType.HEAP),
    **dict.fromkeys(_HEAP_ALLOC, ProfileType.HEAP_ALLOC),
    **dict.fromkeys(_CONTENTION, ProfileType.CONTENTION),
    **dict.fromkeys(("goroutine", "goroutines", "thread", "threads"), ProfileType.THREADS),
}
# Pyroscope's names of profiles (the label __name__), for sample types that say less.
_TYPE_OF_PROFILE: Mapping[str, ProfileType] = {
    "process_cpu": ProfileType.CPU,
    "cpu": ProfileType.CPU,
    "wall": ProfileType.WALL,
    "memory": ProfileType.HEAP,
    "heap": ProfileType.HEAP,
    "mutex": ProfileType.CONTENTION,
    "block": ProfileType.CONTENTION,
    "goroutine": ProfileType.THREADS,
    "goroutines": ProfileType.THREADS,
}
# Numbers of samples belong to the time beside them; of wall and CPU time, to wall time.
_SAMPLE_COUNTS = ("samples", "sample")
_TIMES = (ProfileType.WALL, ProfileType.CPU)


def type_samples(
    sample_types: Sequence[Metric], profile: str = "", display: Mapping[str, str] | None = None
) -> TypedSamples:
    """Assign the sample types of a profile to profile types.

    `profile` is Pyroscope's name of the profile, "" if unknown; `display` maps names of sample
    types to those that the sender displays, which tell mutexes from blocking.
    """
    shown = display or {}
    found: dict[ProfileType, list[str]] = {}
    counts: list[str] = []
    unknown: list[str] = []
    for name, unit in sample_types:
        if _normal(name) in _SAMPLE_COUNTS:
            counts.append(name)
        elif type_ := _find_type(name, unit, profile):
            found.setdefault(type_, []).append(name)
        else:
            unknown.append(name)
    if counts:
        found.setdefault(_type_of_counts(found, profile), []).extend(counts)
    names = {type_: tuple(group) for type_, group in found.items()}
    return TypedSamples(names, tuple(unknown), _contention(sample_types, profile, shown))


def _find_type(name: str, unit: str, profile: str) -> ProfileType | None:
    if _normal(name) == "time" and normalise_unit(unit)[0] == "nanoseconds":
        return ProfileType.WALL
    return _TYPES.get(_normal(name)) or _TYPE_OF_PROFILE.get(profile)


def _type_of_counts(found: Mapping[ProfileType, Sequence[str]], profile: str) -> ProfileType:
    """Return the type that numbers of samples belong to."""
    beside = [type_ for type_ in _TIMES if type_ in found] or list(found)
    return beside[0] if beside else _TYPE_OF_PROFILE.get(profile, ProfileType.CPU)


def _contention(sample_types: Sequence[Metric], profile: str, shown: Mapping[str, str]) -> str:
    """Return mutex or block; "" if nothing says so."""
    texts = [profile, *(shown.get(name, name) for name, _ in sample_types)]
    kinds = (text.partition("_")[0] for text in texts)
    return next((kind for kind in kinds if kind in {"mutex", "block"}), "")


def _normal(name: str) -> str:
    return name.lower().replace("-", "_")
