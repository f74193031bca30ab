"""Options of an import: what a sender states because the file may lack it."""

from collections.abc import Collection
from dataclasses import dataclass

from profiles.engine.errors import BadProfile
from profiles.engine.metrics import DEFAULT_METRICS, Metric, normalise_unit
from projects.profile_types import ProfileType

_SAMPLED = frozenset({ProfileType.CPU, ProfileType.WALL})
_SAMPLES = Metric("samples", "count")
# The first name that a profile has decides: Go's heap profiles have allocations, too.
_TYPES = (
    *((name, ProfileType.HEAP) for name in ("inuse_space", "inuse_objects", "space")),
    *((name, ProfileType.WALL) for name in ("wall", "wall_time", "time")),
    ("cpu", ProfileType.CPU),  # profiles of .NET have allocations and locks, too
    *((name, ProfileType.HEAP_ALLOC) for name in ("alloc_space", "alloc_objects")),
    *((name, ProfileType.CONTENTION) for name in ("contentions", "delay", "lock", "lock_time")),
    *((name, ProfileType.THREADS) for name in ("goroutine", "thread", "threads")),
)
UNITS = ("count", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Profile type and unit of the values of a file; None and "" are to be found in the file."""

    type: ProfileType | None = None
    unit: str = ""  # one of UNITS


NO_OPTIONS = ImportOptions()


def choose_metric(type: ProfileType, unit: str = "") -> tuple[Metric, int]:
    """Return the metric of values in a unit, and the factor that converts them to its own unit.

    Without a unit, values of CPU and WALL are numbers of samples, others those of the default
    metric of the type. Raise BadProfile if the type has no metric in this unit.
    """
    default = DEFAULT_METRICS[type.value]
    if not unit:
        return (_SAMPLES, 1) if type in _SAMPLED else (default, 1)
    normal, factor = normalise_unit(unit)
    if normal == default.unit:
        return default, factor
    if normal == "count":
        return _SAMPLES, 1
    raise BadProfile(f"A {type} profile has no values in {unit}; state another type or unit.")


def type_of_metrics(metrics: Collection[tuple[str, str]]) -> ProfileType:
    """Return the type of a profile by the names and units of its metrics."""
    names = {name.lower() for name, _ in metrics}
    for name, type in _TYPES:
        if name in names:
            return type
    units = {normalise_unit(unit)[0] for _, unit in metrics}
    return ProfileType.HEAP if "bytes" in units else ProfileType.CPU
