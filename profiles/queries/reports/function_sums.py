"""Sums of the heaviest functions by hour, with sums of squares over profiles."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from profiles.engine.calltree.functions import find_functions
from profiles.engine.coverage import ScanStats
from profiles.engine.metrics import Metric
from profiles.engine.stats.sum_of_squares import VarianceMerge
from profiles.engine.stats.time_series import SeriesByFunction, TimeSeriesMerge, select_callers
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_by_pk
from profiles.queries.merge_query import ProfilesQuery
from profiles.queries.plan import QueryPlan, ReadOptions, Trees
from profiles.queries.scan import explain_errors, require_64_bits, scan
from profiles.queries.selection import ProfileSelection, View

_HOUR = timedelta(hours=1)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FunctionSumsResult:
    """Sums over the profiles of each of T hours, for F functions, the greatest totals first.

    Totals count recursion once. A function that is not listed has at most `omitted_total` in all
    hours together.
    """

    metric: Metric
    names: tuple[str, ...]  # F
    files: tuple[str, ...]  # F
    callers: NDArray[np.int64]  # [F], main caller among the functions, -1 without; no cycles
    self_sums: Floats  # [F, T]
    total_sums: Floats  # [F, T]
    self_squares: Floats  # [F], Σ over the profiles of all hours
    total_squares: Floats  # [F]
    profiles: NDArray[np.int64]  # [T]
    totals: Floats  # [T], Σ of profile totals
    durations_ns: NDArray[np.int64]  # [T], Σ
    versions: dict[str, NDArray[np.int64]]  # profiles of each version, [T]
    omitted_total: float


def run_function_sums(
    context: QueryContext, selection: ProfileSelection, functions: int
) -> FunctionSumsResult:
    """Sum the `functions` functions with the greatest totals, in the type's default metric.

    The selection begins and ends at whole hours of UTC and has no sample labels. Raise
    InvalidQuery if the profiles have too many nodes.
    """
    merged = _FunctionSumsQuery(selection).run(context)
    sums = merged.sum
    series, variance = sums.series, sums.variance.variance()
    own, total = series.sum_all()
    whole = total.sum(axis=1)
    order = np.argsort(-whole, kind="stable")
    chosen, omitted = order[:functions], order[functions:]
    found = find_functions(variance.tree, context.check)
    frames = found.frame[np.searchsorted(found.id, series.functions.id[chosen])]
    return FunctionSumsResult(
        metric=merged.metric,
        names=tuple(series.names[each] for each in chosen.tolist()),
        files=tuple(series.files[each] for each in chosen.tolist()),
        callers=select_callers(series.find_main_callers(), chosen, range(len(chosen))),
        self_sums=own[chosen],
        total_sums=total[chosen],
        self_squares=variance.functions.self_square[frames],
        total_squares=variance.functions.total_square[frames],
        profiles=np.array([each.profiles for each in sums.stats], np.int64),
        totals=np.array([each.total for each in sums.stats], np.float64),
        durations_ns=np.array([each.duration_ns for each in sums.stats], np.int64),
        versions=_sum_versions(context, sums.deployments, len(sums.stats)),
        omitted_total=float(whole[omitted].max(initial=0)),
    )


def _sum_versions(
    context: QueryContext, deployments: dict[int, NDArray[np.int64]], hours: int
) -> dict[str, NDArray[np.int64]]:
    versions: dict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros(hours, np.int64))
    by_pk = deployments_by_pk(context, deployments)
    for pk, counts in deployments.items():
        if pk in by_pk:
            versions[by_pk[pk].version] += counts
    return dict(versions)


@dataclass(frozen=True, slots=True)
class _HourSums:
    series: SeriesByFunction
    variance: VarianceMerge
    stats: list[ScanStats]  # by hour
    deployments: dict[int, NDArray[np.int64]]  # profiles by hour, by Deployment.pk


@dataclass(frozen=True)
class _FunctionSumsQuery(ProfilesQuery[_HourSums]):
    selection: ProfileSelection
    view: View = field(default_factory=View)  # the type's default metric

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(trees=Trees.FUNCTIONS, day_blocks=False, cuts=self._starts)

    @property
    def _starts(self) -> tuple[datetime, ...]:
        hours = (self.selection.end - self.selection.start) // _HOUR
        return tuple(self.selection.start + each * _HOUR for each in range(hours))

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> _HourSums:
        starts, type_ = self._starts, self.selection.type
        stats = [ScanStats() for _ in starts]
        deployments: dict[int, NDArray[np.int64]] = {}
        with explain_errors(), scan(context, plan, metric) as inputs:
            merge = TimeSeriesMerge(metric, len(starts), type_, context.check)
            variance = VarianceMerge(metric, settings.MAX_QUERY_NODES, type_, context.check)
            for each in inputs:
                merge.step = max(0, (each.start - starts[0]) // _HOUR)
                each.read_into(merge, stats[merge.step])
                each.read_into(variance, ScanStats())  # `merge` has counted the profiles
                found, counts = np.unique(
                    each.dimension(ScanStats()).deployment, return_counts=True
                )
                for pk, count in zip(found.tolist(), counts.tolist(), strict=True):
                    by_hour = deployments.setdefault(pk, np.zeros(len(starts), np.int64))
                    by_hour[merge.step] += count
            require_64_bits(sum(each.total for each in stats))
            series = SeriesByFunction(merge.tree(), context.check)
        return _HourSums(series, variance, stats, deployments)
