"""Rates: values per second of profiling, such as cores, where a profile covers a duration."""

from dataclasses import dataclass

from profiles.query import Metric
from projects.profile_types import INSTANTANEOUS, ProfileType

_PER_DURATION = {ProfileType.CPU: "cores"}  # of metrics in nanoseconds; others: threads
_COUNTED = {"contentions": "waits"}


@dataclass(frozen=True, slots=True)
class Rate:
    """Divisor of sums and the unit of the quotients."""

    unit: str
    is_per_second: bool  # divide by seconds of duration; otherwise by the number of profiles
    scale: float = 1.0

    def compute(self, total: float, profiles: int, duration_ns: int) -> float | None:
        """Return the rate of a sum over profiles; None without profiles or duration."""
        divisor = duration_ns / 1e9 if self.is_per_second else profiles
        return total * self.scale / divisor if divisor else None


def get_rate(type_: ProfileType, metric: Metric, duration_ns: int) -> Rate:
    """Return the rate in which a metric is shown over time.

    Time per time has the unit cores for CPU profiles, else threads: the average number of threads
    that run or wait. Without any duration, and for states such as the heap, it is the mean.
    """
    if type_ in INSTANTANEOUS or not duration_ns:
        return Rate(metric.unit, is_per_second=False)
    if metric.unit == "nanoseconds":
        return Rate(_PER_DURATION.get(type_, "threads"), is_per_second=True, scale=1e-9)
    unit = _COUNTED.get(metric.name, metric.unit)
    return Rate(f"{unit}/s", is_per_second=True)
