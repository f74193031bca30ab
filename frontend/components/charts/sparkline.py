"""Sparkline: line segments of values at equal steps, in the coordinates of its SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

_WIDTH, _FOOT, _HEAD = 100, 31, 4


@dataclass(frozen=True, slots=True)
class LineSegment:
    line: str  # points of a polyline
    area: str  # points of the polygon below it


def draw_sparkline(steps: Sequence[float | None]) -> list[LineSegment]:
    """Draw values at equal steps; None is a gap. The scale starts at zero."""
    most = max((value for value in steps if value is not None), default=0) or 1
    points = [
        None if value is None else (i, round(_FOOT - (_FOOT - _HEAD) * value / most))
        for i, value in enumerate(steps)
    ]
    return [_draw_run(run, len(steps)) for run in _runs(points)]


def _runs(points: Sequence[tuple[int, int] | None]) -> list[list[tuple[int, int]]]:
    runs: list[list[tuple[int, int]]] = [[]]
    for point in points:
        if point is not None:
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _draw_run(run: list[tuple[int, int]], steps: int) -> LineSegment:
    """Draw a run from the left edge of its first step to the right edge of its last."""
    edge = _WIDTH / steps
    first, last = run[0], run[-1]
    points = [(first[0] * edge, first[1])]
    points += [((i + 0.5) * edge, y) for i, y in run[1:-1]]
    points.append(((last[0] + 1) * edge, last[1]))
    line = " ".join(f"{round(x)},{y}" for x, y in points)
    area = f"{round(points[0][0])},{_FOOT} {line} {round(points[-1][0])},{_FOOT}"
    return LineSegment(line, area)
