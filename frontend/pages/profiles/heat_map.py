"""Heat map of profile weight over time, as SVG data and as a table, with the selected region."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor

from django.utils.translation import gettext as _

from frontend.pages.profiles.params import ProfileQuery
from frontend.params.formats import precise_time_text, total_range_text
from frontend.text.time_ranges import span_name
from frontend.text.units import format_value
from profiles.query import HeatMapResult

LEVELS = 5  # of colour
_WEIGHT_MARKS = 4
_MAX_TIME_MARKS = 7
_MARK_STEPS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *(30, 60, 120, 300, 600, 900, 1800),
        *(3600, 7200, 10800, 21600, 43200),
        *(86400, 2 * 86400, 5 * 86400, 10 * 86400, 30 * 86400, 90 * 86400),
    )
)
_HEIGHT = 130  # pixels of the heat map


@dataclass(frozen=True, slots=True)
class TimeMark:
    x: str
    time: datetime
    days: bool  # label with the date instead of the time of day


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Range of the heat map; the browser replaces the marks with those of its time zone."""

    start: datetime
    end: datetime
    marks: list[TimeMark]


@dataclass(frozen=True, slots=True)
class ColorLevel:
    number: int
    path: str  # SVG path of its cells, each one unit wide and high


@dataclass(frozen=True, slots=True)
class WeightMark:
    y: str  # pixels from the top
    text: str


@dataclass(frozen=True, slots=True)
class Box:
    """Selected region, in cells from the left and from the top."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Picture:
    columns: int
    rows: int
    levels: list[ColorLevel]
    lines: str  # SVG path of the grid lines
    weights: list[WeightMark]
    axis: TimeAxis
    picked: Box | None
    most: int  # profiles of the fullest cell
    step: str  # "10 minutes"
    start: int  # start of the first column, in ms since 1970
    step_ms: float
    bounds: str  # `least..most` weight of each row, heaviest first
    counts: str  # profiles per cell, row by row, heaviest first


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    weights: str  # value of the `weights` parameter that selects this column


@dataclass(frozen=True, slots=True)
class TableRow:
    start: datetime
    pick_from: str  # values of the parameters that select this row
    pick_to: str
    counts: list[int]


@dataclass(frozen=True, slots=True)
class Table:
    headings: list[Heading]  # lightest first
    rows: list[TableRow]  # steps with profiles


def picture(result: HeatMapResult, query: ProfileQuery) -> Picture:
    """Build the heat map of a result that has profiles."""
    rows, columns = len(result.counts), len(result.starts)
    counts = result.counts[::-1]
    most = max(map(max, counts))
    bounds = _bounds(result.edges)
    return Picture(
        columns=columns,
        rows=rows,
        levels=_levels(counts, most),
        lines=_lines(rows, columns),
        weights=_weight_marks(result),
        axis=build_axis(result),
        picked=_find_picked_box(result, query, bounds),
        most=most,
        step=span_name(timedelta(seconds=result.step_seconds)),
        start=round(result.starts[0].timestamp() * 1000),
        step_ms=result.step_seconds * 1000,
        bounds=" ".join(f"{least}..{most}" for least, most in bounds[::-1]),
        counts=" ".join(str(count) for line in counts for count in line),
    )


def build_axis(result: HeatMapResult) -> TimeAxis:
    start = result.starts[0]
    end = result.starts[-1] + timedelta(seconds=result.step_seconds)
    return TimeAxis(start, end, time_marks(start, end))


def table(result: HeatMapResult) -> Table:
    step = timedelta(seconds=result.step_seconds)
    unit = result.metric.unit
    headings = [
        Heading(
            _("%(least)s – %(most)s")
            % {"least": format_value(least, unit), "most": format_value(most, unit)},
            total_range_text((least, most)),
        )
        for least, most in _bounds(result.edges)
    ]
    rows = [
        TableRow(start, precise_time_text(start), precise_time_text(start + step), [*counts])
        for start, counts in zip(result.starts, zip(*result.counts, strict=True), strict=True)
        if any(counts)
    ]
    return Table(headings, rows)


def _bounds(edges: Sequence[float]) -> list[tuple[int, int]]:
    """Return the smallest and the largest weight of each row, both inclusive."""
    last = len(edges) - 2
    return [
        (ceil(edges[i]), floor(edges[i + 1]) if i == last else ceil(edges[i + 1]) - 1)
        for i in range(last + 1)
    ]


def _levels(counts: Sequence[Sequence[int]], most: int) -> list[ColorLevel]:
    paths: dict[int, list[str]] = {}
    for y, line in enumerate(counts):
        for x, count in enumerate(line):
            if count:
                level = LEVELS - (most - count) * LEVELS // most
                paths.setdefault(level, []).append(f"M{x} {y}h1v1h-1z")
    return [ColorLevel(level, "".join(paths[level])) for level in sorted(paths)]


def _lines(rows: int, columns: int) -> str:
    across = "".join(f"M0 {y}H{columns}" for y in range(1, rows))
    return across + "".join(f"M{x} 0V{rows}" for x in range(1, columns))


def _weight_marks(result: HeatMapResult) -> list[WeightMark]:
    rows = len(result.counts)
    step = max(1, ceil(rows / (_WEIGHT_MARKS - 1)))
    shown = [*range(0, rows, step), rows]
    if len(shown) > 2 and shown[-1] - shown[-2] < step / 2:
        del shown[-2]
    height = _HEIGHT / rows
    return [
        WeightMark(
            f"{_HEIGHT - i * height + 4:.0f}", format_value(result.edges[i], result.metric.unit)
        )
        for i in shown
    ]


def _find_picked_box(
    result: HeatMapResult, query: ProfileQuery, bounds: list[tuple[int, int]]
) -> Box | None:
    if not query.narrowed:
        return None
    columns, rows = len(result.starts), len(bounds)
    left, right = 0.0, float(columns)
    if query.picked:
        step = timedelta(seconds=result.step_seconds)
        left, right = (
            min(columns, max(0.0, (moment - result.starts[0]) / step)) for moment in query.picked
        )
    low, high = 0, rows
    if query.params.weights:
        least, most = query.params.weights
        low = sum(bound[1] < least for bound in bounds)
        high = sum(bound[0] <= most for bound in bounds)
    return Box(left, rows - high, right - left, max(0, high - low))


def time_marks(start: datetime, end: datetime) -> list[TimeMark]:
    """Return at most seven round times within the range, with their x positions in percent."""
    step = next((s for s in _MARK_STEPS if (end - start) / s <= _MAX_TIME_MARKS), _MARK_STEPS[-1])
    first = datetime.fromtimestamp(
        -(-start.timestamp() // step.total_seconds()) * step.total_seconds(), start.tzinfo
    )
    count = int((end - first) / step) + 1 if first <= end else 0
    found = []
    for i in range(count):
        x = (first + i * step - start) / (end - start) * 100
        if x <= 90:  # a label further right would overflow the chart
            found.append(TimeMark(f"{x:.2f}%", first + i * step, step >= timedelta(days=1)))
    return found
