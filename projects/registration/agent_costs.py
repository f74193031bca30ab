"""Profiling overhead and lost samples of an agent, as hourly sums over the last day.

Pure functions: no clock and no database.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

HOURS = 24
_HOUR_SECONDS = 3600
_MOST = 2**62  # maximum of any sum: columns have 64 bits


class HourlyCosts(NamedTuple):
    """Sums over the reports received within one hour."""

    samples: int = 0  # samples in stored profiles
    dropped: int = 0  # samples that the agent dropped
    cpu_ns: int = 0  # CPU time used by the agent itself
    elapsed_ns: int = 0  # time over which cpu_ns was used; 0: not reported
    rejected: int = 0  # rejected uploads
    reporting: int = 0  # number of profiles that reported dropped samples

    def plus(self, other: "HourlyCosts") -> "HourlyCosts":
        return HourlyCosts(*(min(_MOST, a + b) for a, b in zip(self, other, strict=True)))


Hours = Mapping[str, list[int]]


@dataclass(frozen=True, slots=True)
class Costs:
    """Totals of the last day; None: not reported."""

    cpu_share: float | None
    dropped: int | None
    samples: int
    rejected: int


def add_report(hours: Hours, time: datetime, more: HourlyCosts) -> dict[str, list[int]]:
    """Return the hours with one more report, without those that are now over a day old."""
    now = int(time.timestamp()) // _HOUR_SECONDS
    recent = {hour: sums for hour, sums in hours.items() if int(hour) > now - HOURS}
    recent[str(now)] = list(HourlyCosts(*recent.get(str(now), ())).plus(more))
    return recent


def costs(hours: Hours) -> Costs:
    whole = HourlyCosts()
    for sums in hours.values():
        whole = whole.plus(HourlyCosts(*sums))
    return Costs(
        cpu_share=whole.cpu_ns / whole.elapsed_ns if whole.elapsed_ns else None,
        dropped=whole.dropped if whole.reporting else None,
        samples=whole.samples,
        rejected=whole.rejected,
    )
