"""Profile types that agents can capture, with Cloud Profiler's names and numbers."""

from enum import StrEnum


class ProfileType(StrEnum):
    CPU = "CPU"
    WALL = "WALL"
    HEAP = "HEAP"
    THREADS = "THREADS"
    CONTENTION = "CONTENTION"
    PEAK_HEAP = "PEAK_HEAP"
    HEAP_ALLOC = "HEAP_ALLOC"


# Snapshots at one instant: these types have no duration.
INSTANTANEOUS = frozenset({ProfileType.HEAP, ProfileType.THREADS, ProfileType.PEAK_HEAP})

# Accepted in uploads, but never requested from agents.
NEVER_REQUESTED = frozenset({ProfileType.PEAK_HEAP})

# google/devtools/cloudprofiler/v2/profiler.proto, enum ProfileType (0 is UNSPECIFIED)
WIRE_NUMBERS = {
    1: ProfileType.CPU,
    2: ProfileType.WALL,
    3: ProfileType.HEAP,
    4: ProfileType.THREADS,
    5: ProfileType.CONTENTION,
    6: ProfileType.PEAK_HEAP,
    7: ProfileType.HEAP_ALLOC,
}
