"""Time strip: number and mean weight of profiles over time."""

import numpy as np
from django.db.models import Avg, Count, QuerySet, Value
from numpy.typing import NDArray

from profiles.models import Profile
from profiles.queries.planning.metric_choice import metrics_of
from profiles.queries.planning.micros import Micros
from profiles.queries.planning.plan import plan_query
from profiles.queries.results import StripResult, StripStep
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import InvalidQuery, Selection, check, watched
from profiles.storage.snapshot import snapshot
from profiles.timestamps import micros

MAX_STEPS = 2000


@watched
def run_strip(selection: Selection, steps: int = 120, deadline: float | None = None) -> StripResult:
    """Return counts and mean weights of matching profiles in `steps` equal parts of the range.

    Raise InvalidQuery for an empty range or a number of steps outside 1 to MAX_STEPS.
    """
    if not 1 <= steps <= MAX_STEPS or selection.end <= selection.start:
        raise InvalidQuery(f"A strip has 1 to {MAX_STEPS} steps of a range that is not empty.")
    course = _Course(selection, steps)
    with snapshot():
        there = plan_query(selection, deadline=deadline)
        course.add_head(there.head)
        check(deadline)
        for _, columns, meant in there.known(ScanStats()):
            course.add(columns.time[meant], columns.weight[meant])
        metric = metrics_of(selection)[0]
    width = (selection.end - selection.start) / steps
    means = course.weights / np.maximum(course.counts, 1)
    return StripResult(
        selection,
        width.total_seconds(),
        metric,
        tuple(
            StripStep(selection.start + i * width, count, mean)
            for i, (count, mean) in enumerate(
                zip(course.counts.tolist(), means.tolist(), strict=True)
            )
        ),
    )


class _Course:
    """Accumulator of counts and Σ weights by step."""

    def __init__(self, selection: Selection, steps: int) -> None:
        self._start = micros(selection.start)
        self._span = micros(selection.end) - self._start
        self._steps = steps
        self.counts = np.zeros(steps, np.int64)
        self.weights = np.zeros(steps)

    def add_head(self, rows: QuerySet[Profile]) -> None:
        """Add head rows, summed by the database.

        It returns means, because its sums of integers may pass 64 bits.
        """
        step = (Micros("time") - Value(self._start)) * Value(self._steps) / Value(self._span)
        sums = rows.order_by().annotate(step=step).values_list("step")
        for place, count, mean in sums.annotate(Count("pk"), Avg("weight")):
            self.counts[place] += count
            self.weights[place] += float(mean) * count

    def add(self, time: NDArray[np.int64], weight: NDArray[np.int64]) -> None:
        place = (time - self._start) * self._steps // self._span
        self.counts += np.bincount(place, minlength=self._steps)
        self.weights += np.bincount(place, weight.astype(np.float64), self._steps)
