"""Heat map: number of profiles by time and weight."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.metrics import Metric
from profiles.engine.timestamps import micros, round_down
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import ProfilesQuery
from profiles.queries.plan import QueryPlan, ReadOptions, Trees
from profiles.queries.scan import scan
from profiles.queries.scan_input import EMPTY
from profiles.queries.selection import ProfileSelection, View

WEIGHTS = 10  # greatest number of weight bins, the rows
MOST_STEPS = 90  # greatest number of time steps, the columns
# Lengths that divide a day, so that steps begin at round times of UTC; then whole days.
_STEPS = [
    timedelta(seconds=seconds)
    for seconds in (1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200)
] + [timedelta(days=days) for days in (1, 2, 7, 14)]


@dataclass(frozen=True, slots=True)
class HeatMapResult:
    """Number of profiles by time and weight."""

    selection: ProfileSelection
    metric: Metric
    coverage: Coverage
    starts: tuple[datetime, ...]  # [T], equal steps
    step_seconds: float
    edges: tuple[float, ...]  # [W + 1], bounds of the weight bins, ascending
    counts: tuple[tuple[int, ...], ...]  # [W][T]


def run_heat_map(context: QueryContext, selection: ProfileSelection) -> HeatMapResult:
    """Count profiles by time and by weight, the total of the type's default metric.

    Steps begin at round times of UTC: the first may begin before the range, and the last may end
    after it. The weight bins divide the range from the lightest profile to the heaviest equally;
    a bin excludes its upper edge, except the last one. Without profiles there are no bins.
    """
    metric, _, (stats, time, weight) = _WeightsQuery(selection).run(context)
    step = choose_step(selection.end - selection.start)
    starts = _starts(selection, step)
    edges = _edges(weight)
    column = (time - micros(starts[0])) // (step // timedelta(microseconds=1))
    return HeatMapResult(
        selection=selection,
        metric=metric,
        coverage=stats.coverage(),
        starts=tuple(starts),
        step_seconds=step.total_seconds(),
        edges=tuple(edges.tolist()),
        counts=_counts(column, weight, edges, len(starts)),
    )


class _Weights(NamedTuple):
    """Times and weights of P profiles, each int64 [P]."""

    stats: ScanStats
    time: NDArray[np.int64]  # µs since 1970
    weight: NDArray[np.int64]


@dataclass(frozen=True)
class _WeightsQuery(ProfilesQuery[_Weights]):
    selection: ProfileSelection
    view: View = field(default_factory=View)  # the type's default metric

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(trees=Trees.NONE)

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> _Weights:
        stats = ScanStats()
        columns = [EMPTY]
        with scan(context, plan, metric) as inputs:
            columns += [each.dimension(stats) for each in inputs]
        time = np.concatenate([each.time for each in columns])
        return _Weights(stats, time, np.concatenate([each.profile_total for each in columns]))


def choose_step(span: timedelta) -> timedelta:
    """Return the shortest round step that divides a range into at most MOST_STEPS."""
    return next((step for step in _STEPS if span / step <= MOST_STEPS - 1), span / MOST_STEPS)


def _starts(selection: ProfileSelection, step: timedelta) -> list[datetime]:
    first = round_down(selection.start, step)
    return [first + i * step for i in range(max(1, -((first - selection.end) // step)))]


def _edges(weight: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the edges [W + 1] of the weight bins; W is 1 if all profiles weigh the same."""
    if not len(weight):
        return np.empty(0)
    low, high = int(weight.min()), int(weight.max())
    rows = min(WEIGHTS, high - low + 1)
    return np.linspace(low, max(high, low + 1), rows + 1)


def _counts(
    column: NDArray[np.int64],
    weight: NDArray[np.int64],
    edges: NDArray[np.float64],
    steps: int,
) -> tuple[tuple[int, ...], ...]:
    rows = max(0, len(edges) - 1)
    row = np.clip(np.searchsorted(edges, weight, side="right") - 1, 0, max(0, rows - 1))
    counts = np.zeros((rows, steps), np.int64)
    np.add.at(counts, (row, column), 1)
    return tuple(tuple(line) for line in counts.tolist())
