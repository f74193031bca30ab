"""Profiles over time as bars: where each stands in percent and pixels, and the times below."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from profiles.query import Selection, StripResult

_FEWEST, _MOST = 10, 120
_TOP, _BASE = 8.0, 58.0  # pixels: of the tallest bar's head, and of every bar's foot
_FILL = 0.77  # of a bar's share of the width; the rest is the gap
_MOST_MARKS = 7
_STEPS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *(30, 60, 120, 300, 600, 900, 1800),
        *(3600, 7200, 10800, 21600, 43200),
        *(86400, 2 * 86400, 5 * 86400, 10 * 86400, 30 * 86400, 90 * 86400),
    )
)


_AROUND = 7  # how much longer the range of the strip is than the one that is selected
_LONGEST = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Bar:
    x: str  # percent of the width
    width: str
    y: str  # pixels from the top
    height: str
    chosen: bool  # of the selected range


@dataclass(frozen=True, slots=True)
class Mark:
    x: str
    time: datetime
    days: bool  # whether the day is worth more than the hour


@dataclass(frozen=True, slots=True)
class Strip:
    """Profiles over time, around the range that is selected."""

    start: datetime
    end: datetime
    bars: list[Bar]
    marks: list[Mark]
    brush: str  # where the selected range begins, percent of the width
    brush_width: str


def around(selection: Selection, now: datetime) -> Selection:
    """The range that the strip shows: longer than the selected one, and not beyond now."""
    span = selection.end - selection.start
    end = min(selection.end + span * (_AROUND // 2), max(now, selection.end))
    # Of all weights: the heaviest of a longer range are others than those that are selected.
    wide = replace(selection, weight=None)
    return replace(wide, start=end - min(span * _AROUND, max(span, _LONGEST)), end=end)


def strip(result: StripResult, selected: Selection) -> Strip:
    start, end = result.selection.start, result.selection.end
    left, right = ((moment - start) / (end - start) for moment in (selected.start, selected.end))
    return Strip(
        start=start,
        end=end,
        bars=bars([step.profiles for step in result.steps], left, right),
        marks=marks(start, end),
        brush=f"{left * 100:.2f}%",
        brush_width=f"{(right - left) * 100:.2f}%",
    )


def steps(span: timedelta) -> int:
    """How many bars a range has: one a minute, as profiles come, within bounds."""
    return min(_MOST, max(_FEWEST, round(span / timedelta(minutes=1))))


def bars(counts: Sequence[int], left: float = 0, right: float = 1) -> list[Bar]:
    """A bar for each count that is not zero; a gap stays a gap. Those whose middle lies between
    `left` and `right`, shares of the width, are chosen."""
    most = max(counts, default=0)
    share = 1 / max(1, len(counts))
    return [
        _bar(i * share, share, count / most, left <= (i + 0.5) * share <= right)
        for i, count in enumerate(counts)
        if count
    ]


def _bar(x: float, width: float, height: float, chosen: bool) -> Bar:
    pixels = max(1.0, height * (_BASE - _TOP))
    place, breadth = f"{x * 100:.2f}%", f"{width * _FILL * 100:.2f}%"
    return Bar(place, breadth, f"{_BASE - pixels:.1f}", f"{pixels:.1f}", chosen)


def marks(start: datetime, end: datetime) -> list[Mark]:
    """Round moments of the range, at most seven."""
    step = next((s for s in _STEPS if (end - start) / s <= _MOST_MARKS), _STEPS[-1])
    first = datetime.fromtimestamp(
        -(-start.timestamp() // step.total_seconds()) * step.total_seconds(), start.tzinfo
    )
    count = int((end - first) / step) + 1 if first <= end else 0
    found = []
    for i in range(count):
        x = (first + i * step - start) / (end - start) * 100
        if x <= 90:  # its text must not run out of the picture
            found.append(Mark(f"{x:.2f}%", first + i * step, step >= timedelta(days=1)))
    return found
