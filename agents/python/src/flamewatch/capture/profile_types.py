"""Profile types that this agent can capture, and their metrics."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class ProfileType(StrEnum):
    CPU = "CPU"
    WALL = "WALL"
    THREADS = "THREADS"
    HEAP = "HEAP"
    HEAP_ALLOC = "HEAP_ALLOC"
    CONTENTION = "CONTENTION"


MEMORY = frozenset({ProfileType.HEAP, ProfileType.HEAP_ALLOC})


@dataclass(frozen=True, slots=True)
class Metric:
    """One value of each sample: pprof's ValueType."""

    name: str
    unit: str


Kind = Literal["cpu", "wall", "threads", "contention"]

KINDS: dict[ProfileType, Kind] = {
    ProfileType.CPU: "cpu",
    ProfileType.WALL: "wall",
    ProfileType.THREADS: "threads",
    ProfileType.CONTENTION: "contention",
}

_ALLOCATED = (Metric("alloc_objects", "count"), Metric("alloc_space", "bytes"))
_IN_USE = (Metric("inuse_objects", "count"), Metric("inuse_space", "bytes"))

# The last metric is the default one, which most readers show first.
METRICS: dict[ProfileType, tuple[Metric, ...]] = {
    ProfileType.CPU: (Metric("samples", "count"), Metric("cpu", "nanoseconds")),
    ProfileType.WALL: (Metric("sample", "count"), Metric("wall", "nanoseconds")),
    ProfileType.THREADS: (Metric("thread", "count"),),
    ProfileType.HEAP: (*_ALLOCATED, *_IN_USE),
    ProfileType.HEAP_ALLOC: (*_IN_USE, *_ALLOCATED),
    ProfileType.CONTENTION: (Metric("contentions", "count"), Metric("delay", "nanoseconds")),
}
