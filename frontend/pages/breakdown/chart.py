"""Data of the chart of a breakdown."""

import json
from collections.abc import Sequence
from datetime import timedelta

from frontend.components.charts.chart_notes import ChartNotes
from frontend.components.charts.step_values import round_plotted
from frontend.components.charts.version_marks import VersionMark, build_marks
from frontend.pages.breakdown.rates import Rate
from profiles.query import GroupSeries, SeriesResult

CHARTED = 10  # values with a series of their own: each has a colour and a pattern
_LONGEST = 200  # characters of a name


def chart(
    result: SeriesResult,
    series: Sequence[GroupSeries],
    names: Sequence[str],
    others: int,
    rate: Rate,
    releases: Sequence[VersionMark],
    notes: ChartNotes,
) -> str:
    """Return the JSON of `<breakdown-chart>`.

    `series` are stacked in this order; if one more than `names`, the last is the sum of `others`.
    """
    start = result.steps[0].start
    end = result.steps[-1].start + timedelta(seconds=result.step_seconds)
    return json.dumps(
        {
            "from": start.timestamp(),
            "to": end.timestamp(),
            "step": result.step_seconds,
            "profiles": [step.profiles for step in result.steps],
            "values": [
                [
                    round_plotted(rate.compute(total, step.profiles, step.duration_ns))
                    for total, step in zip(each.totals, result.steps, strict=True)
                ]
                for each in series
            ],
            "names": [name[:_LONGEST] for name in names],
            "others": others,
            "unit": rate.unit,
            "versions": build_marks(releases),
            "notes": notes.marks,
        },
        separators=(",", ":"),
    )
