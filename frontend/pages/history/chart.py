"""Lines of a history as the charts take them."""

import json
from collections.abc import Sequence
from datetime import timedelta

from frontend.components.versions import VersionMark, marks_of
from profiles.query import HistoryResult

LINES = 5  # that have a colour and a dash of their own


def chart(result: HistoryResult, values: Sequence[Sequence[float | None]], *, percent: bool) -> str:
    """The JSON of `<history-chart>`. `values`: of each line, by step; None without profiles."""
    start = result.steps[0].start
    end = result.steps[-1].start + timedelta(seconds=result.step_seconds)
    began = [VersionMark(span.version, span.first) for span in result.versions if span.version]
    return json.dumps(
        {
            "from": start.timestamp(),
            "to": end.timestamp(),
            "step": result.step_seconds,
            "profiles": [step.profiles for step in result.steps],
            "lines": [[_rounded(value, percent) for value in line] for line in values],
            "names": [line.name for line in result.lines],
            "unit": result.metric.unit,
            "percent": percent,
            "versions": marks_of(began),
        },
        separators=(",", ":"),
    )


def _rounded(value: float | None, percent: bool) -> float | None:
    """More digits than a read-out shows, and no more."""
    if value is None:
        return None
    return round(value, 5) if percent else float(f"{value:.5g}")
