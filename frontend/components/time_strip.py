"""Data of the profile strip: the time range around a selection, its bars and its time marks."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from frontend.components.versions import VersionMark, marks_of
from profiles.query import Selection, StripResult

_FEWEST, _MOST = 10, 120
_MOST_MARKS = 7
_STEPS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *(30, 60, 120, 300, 600, 900, 1800),
        *(3600, 7200, 10800, 21600, 43200),
        *(86400, 2 * 86400, 5 * 86400, 10 * 86400, 30 * 86400, 90 * 86400),
    )
)


_AROUND = 7  # length of the strip's range, as a multiple of the selected range
_LONGEST = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Mark:
    x: str
    time: datetime
    days: bool  # label with the date instead of the time of day


def around(selection: Selection, now: datetime) -> Selection:
    """Return the range of the strip: longer than the selected range, and not later than now."""
    span = selection.end - selection.start
    end = min(selection.end + span * (_AROUND // 2), max(now, selection.end))
    # Without a weight filter: the heaviest profiles of a longer range differ from the selected
    # ones.
    wide = replace(selection, weight=None)
    return replace(wide, start=end - min(span * _AROUND, max(span, _LONGEST)), end=end)


def strip(result: StripResult, selected: Selection, releases: Sequence[VersionMark]) -> str:
    """Return the JSON of `<profile-strip>`: profile counts and mean weights per step.

    Times are Unix timestamps in seconds.
    """
    unit = result.metric.unit
    return json.dumps(
        {
            "from": result.selection.start.timestamp(),
            "to": result.selection.end.timestamp(),
            "step": result.step_seconds,
            "counts": [step.profiles for step in result.steps],
            "means": [round(step.weight) for step in result.steps],
            "unit": unit,
            "selected": [selected.start.timestamp(), selected.end.timestamp()],
            "versions": marks_of(releases),
        },
        separators=(",", ":"),
    )


def steps(span: timedelta) -> int:
    """Return the number of bars: one per minute, as profiles arrive, within bounds."""
    return min(_MOST, max(_FEWEST, round(span / timedelta(minutes=1))))


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
