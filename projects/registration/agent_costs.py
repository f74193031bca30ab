"""What profiling costs an agent, and what it loses: sums by the hour, of the last day. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

KEPT_HOURS = 24
_HOUR_SECONDS = 3600
_MOST = 2**62  # of any sum: columns have 64 bits


class HourlyCosts(NamedTuple):
    """Sums over what arrived in an hour."""

    samples: int = 0  # in the profiles
    dropped: int = 0  # samples that are not
    cpu_ns: int = 0  # used by the agent itself
    elapsed_ns: int = 0  # in which it used that; 0: it does not say
    refused: int = 0  # uploads
    telling: int = 0  # profiles that said what was dropped

    def plus(self, other: "HourlyCosts") -> "HourlyCosts":
        return HourlyCosts(*(min(_MOST, a + b) for a, b in zip(self, other, strict=True)))


Hours = Mapping[str, list[int]]


@dataclass(frozen=True, slots=True)
class Costs:
    """None: not reported."""

    cpu_share: float | None
    dropped: int | None
    samples: int
    refused: int


def added(hours: Hours, at: datetime, more: HourlyCosts) -> dict[str, list[int]]:
    """The hours with one more report; those that are too old by then are gone."""
    now = int(at.timestamp()) // _HOUR_SECONDS
    kept = {hour: sums for hour, sums in hours.items() if int(hour) > now - KEPT_HOURS}
    kept[str(now)] = list(HourlyCosts(*kept.get(str(now), ())).plus(more))
    return kept


def costs(hours: Hours) -> Costs:
    whole = HourlyCosts()
    for sums in hours.values():
        whole = whole.plus(HourlyCosts(*sums))
    return Costs(
        cpu_share=whole.cpu_ns / whole.elapsed_ns if whole.elapsed_ns else None,
        dropped=whole.dropped if whole.telling else None,
        samples=whole.samples,
        refused=whole.refused,
    )
