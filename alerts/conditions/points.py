"""Sums of profiles by time step, and their averages over a window."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Measure(StrEnum):
    """Quantity that is made of the sums; the values are stored."""

    SHARE = "share"  # of the profiles' totals, in percent
    CORES = "cores"  # time per time of profiling, of one agent
    PER_PROFILE = "per_profile"  # in the unit of the profile type


@dataclass(frozen=True, slots=True)
class StepSums:
    """Sums over the profiles of one time step."""

    time: datetime  # end of the step
    profiles: int
    value: float  # Σ of the function, or of the whole service
    total: float  # Σ of the whole service
    duration_ns: float  # Σ

    def __add__(self, other: "StepSums") -> "StepSums":
        """Return the sums of both, at the later time."""
        return StepSums(
            max(self.time, other.time),
            self.profiles + other.profiles,
            self.value + other.value,
            self.total + other.total,
            self.duration_ns + other.duration_ns,
        )

    def measure(self, measure: Measure) -> float | None:
        """Return the quantity; None without profiles, or without what it is divided by."""
        match measure:
            case Measure.SHARE:
                return 100 * self.value / self.total if self.total > 0 else None
            case Measure.CORES:
                return self.value / self.duration_ns if self.duration_ns > 0 else None
        return self.value / self.profiles if self.profiles else None


def sum_windows(points: Iterable[StepSums], window: timedelta) -> Iterator[StepSums]:
    """Yield for each point the sums of the window that ends with it; points are in order of time.

    Each is computed anew from the points in its window: no rounding errors add up.
    """
    recent: deque[StepSums] = deque()
    for point in points:
        recent.append(point)
        while recent[0].time <= point.time - window:
            recent.popleft()
        whole = recent[0]
        for each in list(recent)[1:]:
            whole += each
        yield whole
