"""Lines of a history as pictures: scale, gaps, versions on the time axis, and times below."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from frontend.time_strip import Mark, marks
from frontend.units import format_percent, format_value
from profiles.query import HistoryResult, VersionSpan

LINES = 5  # that have a colour and a dash of their own
_TOP, _BASE = 24, 204  # pixels of the picture between which the lines are
_GRID = 4
_ROUND = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10)
_NEAR = 9.0  # percent of the width: names of versions that are closer stand above each other


@dataclass(frozen=True, slots=True)
class Line:
    number: int  # of its colour and dash, from 1
    runs: list[str]  # points of polylines, in percent both ways; between them are gaps
    dots: list[tuple[str, str]]  # single points between gaps


@dataclass(frozen=True, slots=True)
class Rule:
    y: int
    text: str


@dataclass(frozen=True, slots=True)
class Version:
    x: str
    name: str
    low: bool  # whether its name stands below that of its neighbour


@dataclass(frozen=True, slots=True)
class Chart:
    lines: list[Line]
    rules: list[Rule]
    versions: list[Version]
    times: list[Mark]


def chart(
    result: HistoryResult, values: Sequence[Sequence[float | None]], *, percent: bool
) -> Chart:
    """`values`: of each line, by step; None without profiles."""
    start = result.steps[0].start
    end = result.steps[-1].start + timedelta(seconds=result.step_seconds)
    most = max((v for line in values for v in line if v is not None), default=0.0)
    top = nice(most)
    return Chart(
        lines=[_line(i % LINES + 1, line, top) for i, line in enumerate(values)],
        rules=[
            Rule(round(_BASE - (_BASE - _TOP) * i / _GRID), _text(top * i / _GRID, result, percent))
            for i in range(_GRID + 1)
        ],
        versions=_versions(result.versions, start, end),
        times=marks(start, end),
    )


def nice(most: float) -> float:
    """The end of a scale: a round number, not below the largest value, that four parts divide."""
    if most <= 0:
        return 1.0
    magnitude = 10.0 ** math.floor(math.log10(most))
    return next(step * magnitude for step in _ROUND if most <= step * magnitude * (1 + 1e-9))


def _text(value: float, result: HistoryResult, percent: bool) -> str:
    return format_percent(value, 1) if percent else format_value(value, result.metric.unit)


def _line(number: int, values: Sequence[float | None], top: float) -> Line:
    width = 100 / len(values)
    points = [
        None if value is None else (f"{(i + 0.5) * width:.2f}", f"{100 - value / top * 100:.2f}")
        for i, value in enumerate(values)
    ]
    runs: list[list[tuple[str, str]]] = [[]]
    for point in points:
        if point is not None:
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return Line(
        number,
        [" ".join(f"{x},{y}" for x, y in run) for run in runs if len(run) > 1],
        [run[0] for run in runs if len(run) == 1],
    )


def _versions(spans: Sequence[VersionSpan], start: datetime, end: datetime) -> list[Version]:
    """Where each began; a name that would run into the one before it stands lower."""
    found: list[Version] = []
    before, low = -100.0, False
    for span in spans:
        if not span.version:
            continue
        x = min(100.0, max(0.0, (span.first - start) / (end - start) * 100))
        low = x - before < _NEAR and not low
        found.append(Version(f"{x:.2f}%", span.version, low))
        before = x
    return found
