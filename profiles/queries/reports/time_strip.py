"""Time strip: number and mean weight of profiles over time."""

from typing import Any

import numpy as np
from django.db.models import Avg, BigIntegerField, Count, Func, QuerySet, Value
from django.db.models.sql.compiler import SQLCompiler
from numpy.typing import NDArray

from profiles.engine.timestamps import micros
from profiles.models import Profile
from profiles.queries.context import QueryContext
from profiles.queries.plan import metrics_of, plan_query
from profiles.queries.results import StripResult, StripStep
from profiles.queries.scan import open_plan
from profiles.queries.scan_input import profile_facts
from profiles.queries.selection import InvalidQuery, Selection

MAX_STEPS = 2000


def run_strip(context: QueryContext, selection: Selection, steps: int = 120) -> StripResult:
    """Return counts and mean weights of matching profiles in `steps` equal parts of the range.

    Raise InvalidQuery for an empty range or a number of steps outside 1 to MAX_STEPS.
    """
    if not 1 <= steps <= MAX_STEPS or selection.end <= selection.start:
        raise InvalidQuery(
            f"A time strip needs a range that is not empty, and 1 to {MAX_STEPS} steps."
        )
    sums = _StepSums(selection, steps)
    with context.snapshot:
        head, blocks = open_plan(context, plan_query(context, selection))
        sums.add_head(head)
        context.check()
        for _, columns, matching in profile_facts(context, blocks):
            sums.add(columns.time[matching], columns.weight[matching])
        metric = metrics_of(context, selection)[0]
    width = (selection.end - selection.start) / steps
    means = sums.weights / np.maximum(sums.counts, 1)
    return StripResult(
        selection,
        width.total_seconds(),
        metric,
        tuple(
            StripStep(selection.start + i * width, count, mean)
            for i, (count, mean) in enumerate(
                zip(sums.counts.tolist(), means.tolist(), strict=True)
            )
        ),
    )


class _StepSums:
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
        for index, count, mean in sums.annotate(Count("pk"), Avg("weight")):
            self.counts[index] += count
            self.weights[index] += float(mean) * count

    def add(self, time: NDArray[np.int64], weight: NDArray[np.int64]) -> None:
        index = (time - self._start) * self._steps // self._span
        self.counts += np.bincount(index, minlength=self._steps)
        self.weights += np.bincount(index, weight.astype(np.float64), self._steps)


class Micros(Func):
    """Value of a DateTimeField in µs since 1970, an exact integer on PostgreSQL and SQLite."""

    output_field = BigIntegerField()

    def as_sqlite(self, compiler: SQLCompiler, connection: Any, **extra: Any) -> Any:
        # SQLite stores times as text, with six fractional digits or none.
        template = (
            "(CAST(strftime('%%%%s', %(expressions)s) AS INTEGER) * 1000000"
            " + CAST(substr(%(expressions)s, 21, 6) AS INTEGER))"
        )
        return self.as_sql(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **extra: Any) -> Any:
        template = "(extract(epoch from %(expressions)s) * 1000000)::bigint"
        return self.as_sql(compiler, connection, template=template, **extra)
