"""View model of the chart above the graph: values over time of a selection and of a function."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from frontend.components.charts.chart_notes import ChartNotes, find_notes
from frontend.components.charts.step_values import round_plotted
from frontend.components.charts.version_marks import VersionMark, build_marks
from frontend.text.display_names import metric_name
from frontend.text.units import format_delta, format_value
from profiles.query import ProfileSelection, StripResult, StripStep, series_changes
from projects.models import Annotation

_AROUND = 7  # length of the chart's range, as a multiple of the selected range
_LONGEST = timedelta(days=400)
Values = list[float | None]  # by step; None without profiles


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    value: str  # over the selected range; "" without profiles
    is_function: bool


@dataclass(frozen=True, slots=True)
class VersionChange:
    """Significant change of the last series with a version, compared with the one before it."""

    version: str
    text: str  # signed difference of the averages
    sign: int  # -1 or 1


@dataclass(frozen=True, slots=True)
class StepRow:
    """Row of the data table."""

    start: datetime
    profiles: int
    values: list[str]  # of each series; "" without profiles
    versions: list[str]  # that first appeared in the step
    notes: list[Annotation]


@dataclass(frozen=True, slots=True)
class OverTime:
    plot: str  # JSON for <profile-strip>
    series: list[Series]  # the selection, then the function if there is one
    unit: str  # that of the graph; values are means of a profile
    change: VersionChange | None  # the latest one
    rows: list[StepRow]  # of steps with profiles, new versions or notes
    notes: ChartNotes


def around(selection: ProfileSelection, now: datetime) -> ProfileSelection:
    """Return the range of the chart: longer than the selected range, and not later than now."""
    span = selection.end - selection.start
    end = min(selection.end + span * (_AROUND // 2), max(now, selection.end))
    # Without a weight filter: the heaviest profiles of a longer range differ from the selected
    # ones.
    wide = replace(selection, top_percent=None)
    return replace(wide, start=end - min(span * _AROUND, max(span, _LONGEST)), end=end)


def build_over_time(
    result: StripResult,
    selected: ProfileSelection,
    releases: Sequence[VersionMark],
    notes: ChartNotes,
    function: tuple[str, Sequence[int]] | None = None,
) -> OverTime:
    """Build the chart; `function` is a name and its total in each step of the result."""
    steps = result.steps
    unit = result.metric.unit
    totals: list[Sequence[float]] = [[step.total for step in steps]]
    names = [metric_name(result.metric)]
    if function:
        names.append(function[0])
        totals.append(function[1])
    values = [
        [_mean([total], [step]) for total, step in zip(each, steps, strict=True)] for each in totals
    ]
    changes = _changes(releases, result, values, unit)
    signs = {change.version: change.sign for change in changes}
    inside = [i for i, step in enumerate(steps) if _is_inside(step, result, selected)]
    return OverTime(
        plot=_plot(result, selected, names, values, unit, build_marks(releases), signs, notes),
        series=[
            Series(name, _text(_over(each, steps, inside), unit), i > 0)
            for i, (name, each) in enumerate(zip(names, totals, strict=True))
        ],
        unit=unit,
        change=changes[-1] if changes else None,
        rows=_rows(result, values, unit, releases, notes),
        notes=notes,
    )


def _mean(totals: Sequence[float], steps: Sequence[StripStep]) -> float | None:
    """Return the mean of a profile, as the root of the graph has it; None without profiles."""
    profiles = sum(step.profiles for step in steps)
    return sum(totals) / profiles if profiles else None


def _over(
    totals: Sequence[float], steps: Sequence[StripStep], inside: Sequence[int]
) -> float | None:
    return _mean([totals[i] for i in inside], [steps[i] for i in inside])


def _is_inside(step: StripStep, result: StripResult, selected: ProfileSelection) -> bool:
    middle = step.start + timedelta(seconds=result.step_seconds) / 2
    return selected.start <= middle <= selected.end


def _changes(
    releases: Sequence[VersionMark], result: StripResult, values: Sequence[Values], unit: str
) -> list[VersionChange]:
    """Compare the last series before and after each version, up to the versions beside it.

    The step in which a version first appeared counts on neither side.
    """
    start, end = result.selection.start, result.selection.end
    times = [start, *(each.first for each in releases), end]
    found = []
    for (before, began), (_, until), release in zip(
        pairwise(times), pairwise(times[1:]), releases, strict=False
    ):
        sides = [
            _steps_with_profiles(values, result, before, began),
            _steps_with_profiles(values, result, began, until),
        ]
        if not all(side[-1] for side in sides):
            continue
        change = series_changes(*sides)[-1]
        if change.real and change.difference:
            text = format_delta(change.difference, unit)
            found.append(VersionChange(release.version, text, 1 if change.difference > 0 else -1))
    return found


def _steps_with_profiles(
    values: Sequence[Values], result: StripResult, start: datetime, end: datetime
) -> list[list[float]]:
    """Return the values of each series in the steps inside a range that have profiles."""
    length = timedelta(seconds=result.step_seconds)
    used = [
        i
        for i, step in enumerate(result.steps)
        if start <= step.start and step.start + length <= end
    ]
    return [[value for i in used if (value := each[i]) is not None] for each in values]


def _rows(
    result: StripResult,
    values: Sequence[Values],
    unit: str,
    releases: Iterable[VersionMark],
    notes: ChartNotes,
) -> list[StepRow]:
    step = timedelta(seconds=result.step_seconds)
    new: dict[int, list[str]] = {}
    for each in releases:
        new.setdefault((each.first - result.selection.start) // step, []).append(each.version)
    found = []
    for i, strip_step in enumerate(result.steps):
        inside = find_notes(notes.of_times, strip_step.start, strip_step.start + step)
        if strip_step.profiles or i in new or inside:
            texts = [_text(each[i], unit) for each in values]
            found.append(
                StepRow(strip_step.start, strip_step.profiles, texts, new.get(i, []), inside)
            )
    return found


def _text(value: float | None, unit: str) -> str:
    return "" if value is None else format_value(value, unit)


def _plot(
    result: StripResult,
    selected: ProfileSelection,
    names: Sequence[str],
    values: Sequence[Values],
    unit: str,
    versions: Sequence[tuple[float, str]],
    signs: dict[str, int],
    notes: ChartNotes,
) -> str:
    """Return the JSON of `<profile-strip>`. Times are Unix timestamps in seconds."""
    return json.dumps(
        {
            "from": result.selection.start.timestamp(),
            "to": result.selection.end.timestamp(),
            "step": result.step_seconds,
            "counts": [step.profiles for step in result.steps],
            "names": names,
            "values": [[round_plotted(value) for value in each] for each in values],
            "unit": unit,
            "selected": [selected.start.timestamp(), selected.end.timestamp()],
            "versions": versions,
            "changes": [signs.get(version, 0) for _, version in versions],
            "notes": notes.marks,
        },
        separators=(",", ":"),
    )
