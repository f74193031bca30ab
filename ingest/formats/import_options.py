"""What a sender states about a file that the file itself may lack."""

from dataclasses import dataclass

from profiles.engine.errors import BadProfile
from profiles.engine.metrics import DEFAULT_METRICS, Metric, unit_of
from projects.profile_types import ProfileType

_SAMPLED = frozenset({ProfileType.CPU, ProfileType.WALL})
_SAMPLES = Metric("samples", "count")
UNITS = ("count", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Profile type and unit of the values of a file; None and "" are to be found in the file."""

    type: ProfileType | None = None
    unit: str = ""  # one of UNITS


NO_OPTIONS = ImportOptions()


def metric_of(type: ProfileType, unit: str = "") -> tuple[Metric, int]:
    """Return the metric of values in a unit, and the factor that converts them to its own unit.

    Without a unit, values of CPU and WALL are numbers of samples, others those of the default
    metric of the type. Raise BadProfile if the type has no metric in this unit.
    """
    default = DEFAULT_METRICS[type.value]
    if not unit:
        return (_SAMPLES, 1) if type in _SAMPLED else (default, 1)
    normal, factor = unit_of(unit)
    if normal == default.unit:
        return default, factor
    if normal == "count":
        return _SAMPLES, 1
    raise BadProfile(f"A {type} profile has no values in {unit}; state another type or unit.")


def type_of_unit(unit: str) -> ProfileType:
    """Return the type of a profile of which nothing but the unit is known."""
    return ProfileType.HEAP if unit_of(unit)[0] == "bytes" else ProfileType.CPU
