"""Time strip: number and values of profiles over time, and the total of one function."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.metrics import Metric
from profiles.engine.timestamps import micros, round_down
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import CachedQuery, ProfilesQuery
from profiles.queries.plan import (
    CLOSED,
    QueryPlan,
    ReadOptions,
    Trees,
)
from profiles.queries.reports.history import run_history
from profiles.queries.reports.series import run_series
from profiles.queries.scan import scan
from profiles.queries.selection import InvalidQuery, MetricNotFound, ProfileSelection, View

MAX_STEPS = 120
_MINUTE = timedelta(minutes=1)
_FEWEST = 10  # steps: shorter ranges have steps of less than a minute, as profiles arrive
# Lengths that divide a day, so that steps begin at round times of UTC; then whole days.
_STEPS = [
    timedelta(seconds=seconds)
    for seconds in (
        *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
        *(3600, 7200, 10800, 14400, 21600, 43200),
    )
] + [timedelta(days=days) for days in (1, 2, 5, 10, 30, 90)]
_Totals = tuple[tuple[int, ...], bool]  # by step; False if unreadable profiles are missing
_SETTLED = CLOSED + timedelta(hours=1)  # after this, profiles of an hour are usually in blocks


@dataclass(frozen=True, slots=True)
class StripStep:
    start: datetime
    profiles: int
    total: float  # Σ of the metric
    duration_ns: int  # Σ


@dataclass(frozen=True, slots=True)
class StripResult:
    """Profiles over time, in equal steps without gaps from the selection's start."""

    selection: ProfileSelection
    step_seconds: float
    metric: Metric
    coverage: Coverage
    steps: tuple[StripStep, ...]


def run_strip(
    context: QueryContext,
    selection: ProfileSelection,
    view: View | None = None,
    *,
    step: timedelta | None = None,
) -> StripResult:
    """Return number, total and duration of the matching profiles in each time step.

    The totals are those of the view's metric, without its filters: no call tree is read, unless
    the selection has sample labels, whose samples alone count then. Steps begin at round times of
    UTC, by default as `strip_step` chooses; the result's selection begins where its first step
    does. Profiles without the metric are not counted. Raise InvalidQuery for an empty range, or
    for more than MAX_STEPS steps.
    """
    step = step or strip_step(selection.end - selection.start)
    starts = _starts(selection, step)
    selection = replace(selection, start=starts[0])
    if selection.samples:
        return _strip_of_samples(context, selection, View(view.metric if view else None), step)
    merged = _StripQuery(selection, view or View(), tuple(starts), step).run(context)
    sums = merged.sum
    return StripResult(
        selection=selection,
        step_seconds=step.total_seconds(),
        metric=merged.metric,
        coverage=sums.stats.coverage(),
        steps=tuple(
            StripStep(start, int(count), float(total), int(duration))
            for start, count, total, duration in zip(
                starts, sums.profiles, sums.totals, sums.durations, strict=True
            )
        ),
    )


class _StripSums(NamedTuple):
    """Sums of T steps, each array [T]."""

    stats: ScanStats
    profiles: NDArray[np.int64]
    totals: NDArray[np.float64]  # because a sum of totals may pass 64 bits
    durations: NDArray[np.int64]  # ns


@dataclass(frozen=True)
class _StripQuery(ProfilesQuery[_StripSums]):
    selection: ProfileSelection
    view: View
    starts: tuple[datetime, ...]  # of the steps
    step: timedelta

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(trees=Trees.NONE)

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> _StripSums:
        steps, width = len(self.starts), self.step // timedelta(microseconds=1)
        sums = _StripSums(
            ScanStats(), np.zeros(steps, np.int64), np.zeros(steps), np.zeros(steps, np.int64)
        )
        with scan(context, plan, metric) as inputs:
            for each in inputs:
                columns = each.dimension(sums.stats)
                index = (columns.time - micros(self.starts[0])) // width
                np.add.at(sums.profiles, index, 1)
                np.add.at(sums.totals, index, columns.total)
                np.add.at(sums.durations, index, columns.duration_ns)
        return sums


def _strip_of_samples(
    context: QueryContext, selection: ProfileSelection, view: View, step: timedelta
) -> StripResult:
    series = run_series(context, selection, view, step=step)
    return StripResult(
        selection=selection,
        step_seconds=series.step_seconds,
        metric=series.metric,
        coverage=series.coverage,
        steps=tuple(
            StripStep(each.start, each.profiles, float(each.total), each.duration_ns)
            for each in series.steps
        ),
    )


def run_function_strip(
    context: QueryContext, selection: ProfileSelection, view: View, name: str, step: timedelta
) -> tuple[int, ...]:
    """Return the total of a function in each step of the strip of a selection and step.

    The view's metric and filters apply; recursion counts once. The sums of steps that are closed
    and in blocks are cached, so that a range that moves with the clock reads only its newest
    profiles again. Raise InvalidQuery as `run_history` does.
    """
    starts = _starts(selection, step)
    settled = round_down(timezone.now() - _SETTLED, timedelta(hours=1))
    cut = max(starts[0], min(selection.end, round_down(settled, step)))
    totals: list[int] = []
    for start, end in ((starts[0], cut), (cut, selection.end)):
        if start < end:
            part = replace(selection, start=start, end=end)
            try:
                totals += _FunctionTotals(part, view, name, step).run(context).sum[0]
            except MetricNotFound:  # no profile of this part has it
                totals += [0] * len(_starts(part, step))
    return tuple(totals)


def strip_step(span: timedelta) -> timedelta:
    """Return the shortest round step that divides a range into at most about MAX_STEPS.

    A step is a minute or more, unless that would give fewer than 10 steps.
    """
    steps = _STEPS if span / _MINUTE < _FEWEST else [step for step in _STEPS if step >= _MINUTE]
    # the first step may begin before the range, which gives one more
    return next((step for step in steps if span / step <= MAX_STEPS - 1), _STEPS[-1])


@dataclass(frozen=True)
class _FunctionTotals(ProfilesQuery[_Totals], CachedQuery[QueryPlan, _Totals]):
    """Total of a function in each step of a selection."""

    selection: ProfileSelection
    view: View
    name: str
    step: timedelta

    @property
    def cache_key(self) -> Hashable:
        return self.view.filters, self.name, self.step

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> _Totals:
        view = replace(self.view, metric=metric)
        result = run_history(context, self.selection, view, step=self.step, names=[self.name])
        # functions of the same name in several files
        lines = [line.total for line in result.lines]
        totals = tuple(sum(values) for values in zip(*lines, strict=True))
        return totals, result.coverage.is_readable

    def count_numbers(self, result: _Totals) -> int:
        return len(result[0])

    def is_readable(self, result: _Totals) -> bool:
        return result[1]


def _starts(selection: ProfileSelection, step: timedelta) -> list[datetime]:
    if selection.end <= selection.start:
        raise InvalidQuery("A time strip needs a range that is not empty.")
    first = round_down(selection.start, step)
    count = -((first - selection.end) // step)
    if count > MAX_STEPS:
        raise InvalidQuery(
            f"Steps of {step} divide this range into {count:,}; the limit is {MAX_STEPS:,}."
        )
    return [first + i * step for i in range(count)]
