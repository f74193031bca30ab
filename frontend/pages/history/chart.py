"""Data of the history charts."""

import json
from collections.abc import Sequence
from datetime import timedelta

from frontend.components.charts.chart_notes import ChartNotes
from frontend.components.charts.step_values import round_plotted
from frontend.components.charts.version_marks import VersionMark, build_marks
from profiles.query import HistoryResult

LINES = 5  # series per chart, each with its own colour and dash pattern


def chart(
    result: HistoryResult,
    values: Sequence[Sequence[float | None]],
    notes: ChartNotes,
    *,
    percent: bool,
) -> str:
    """Return the JSON of `<history-chart>`.

    `values` holds the values of each series by step, None for steps without profiles.
    """
    start = result.steps[0].start
    end = result.steps[-1].start + timedelta(seconds=result.step_seconds)
    began = [VersionMark(span.version, span.first) for span in result.versions if span.version]
    return json.dumps(
        {
            "from": start.timestamp(),
            "to": end.timestamp(),
            "step": result.step_seconds,
            "profiles": [step.profiles for step in result.steps],
            "lines": [[_round(value, percent) for value in line] for line in values],
            "names": [line.name for line in result.lines],
            "unit": result.metric.unit,
            "percent": percent,
            "versions": build_marks(began),
            "notes": notes.marks,
        },
        separators=(",", ":"),
    )


def _round(value: float | None, percent: bool) -> float | None:
    return round(value, 5) if percent and value is not None else round_plotted(value)
