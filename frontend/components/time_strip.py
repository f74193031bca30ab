"""Marks of a time axis."""

from dataclasses import dataclass
from datetime import datetime, timedelta

_MOST_MARKS = 7
_STEPS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *(30, 60, 120, 300, 600, 900, 1800),
        *(3600, 7200, 10800, 21600, 43200),
        *(86400, 2 * 86400, 5 * 86400, 10 * 86400, 30 * 86400, 90 * 86400),
    )
)


@dataclass(frozen=True, slots=True)
class Mark:
    x: str
    time: datetime
    days: bool  # label with the date instead of the time of day


def marks(start: datetime, end: datetime) -> list[Mark]:
    """Return at most seven round times within the range, with their x positions in percent."""
    step = next((s for s in _STEPS if (end - start) / s <= _MOST_MARKS), _STEPS[-1])
    first = datetime.fromtimestamp(
        -(-start.timestamp() // step.total_seconds()) * step.total_seconds(), start.tzinfo
    )
    count = int((end - first) / step) + 1 if first <= end else 0
    found = []
    for i in range(count):
        x = (first + i * step - start) / (end - start) * 100
        if x <= 90:  # a label further right would overflow the chart
            found.append(Mark(f"{x:.2f}%", first + i * step, step >= timedelta(days=1)))
    return found
