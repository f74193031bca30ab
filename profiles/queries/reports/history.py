"""History: costs of functions over time, step by step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.conf import settings

from profiles.engine.accumulators.merge import Merge
from profiles.engine.calltree.patterns import BadFilterPattern, matcher
from profiles.engine.calltree.samples import select_samples
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.metrics import Metric
from profiles.engine.stats.time_series import FunctionSeries, SeriesByFunction, TimeSeriesMerge
from profiles.engine.timestamps import to_datetime
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_by_pk
from profiles.queries.merge_query import CachedQuery, ProfilesQuery
from profiles.queries.plan import QueryPlan, ReadOptions, Trees
from profiles.queries.reports.time_steps import (
    HistoryStep,
    choose_step,
    step_starts,
    steps_document,
)
from profiles.queries.result_codec import encodable
from profiles.queries.scan import explain_errors, require_64_bits, scan
from profiles.queries.scan_input import ProfilesInput
from profiles.queries.selection import InvalidQuery, ProfileSelection, Shape, View
from profiles.queries.views import apply_view

LINES = 5  # number of top functions to return by default
MAX_LINES = 50


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """Sums of a function in each step; recursion counted once."""

    name: str
    file: str
    self: tuple[int, ...]
    total: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VersionSpan:
    """Version of the service, with the times of its first and last profile in the range."""

    version: str
    first: datetime
    last: datetime
    profiles: int


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """Costs of functions by time step, with the versions that ran in the range."""

    selection: ProfileSelection
    view: View
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    step_seconds: float
    steps: tuple[HistoryStep, ...]  # equal, without gaps; the first may begin before the range
    lines: tuple[HistoryLine, ...]  # the requested functions, or the top ones by self value
    versions: tuple[VersionSpan, ...]  # in order of first profile


@encodable
@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Profiles between two times."""

    first: int  # µs since 1970
    last: int
    profiles: int


def run_history(
    context: QueryContext,
    selection: ProfileSelection,
    view: View,
    *,
    step: timedelta | None = None,
    names: Sequence[str] = (),
    show: Sequence[str] = (),
    hide: Sequence[str] = (),
    lines: int = LINES,
) -> HistoryResult:
    """Return the sums of functions in each time step.

    The functions are those with the full names `names`, at most MAX_LINES names, or otherwise
    the `lines` functions with the greatest self value over the range. `show` and `hide` are
    substrings of names, or regular expressions between slashes, and restrict the top functions:
    they match any of `show`, if it is given, and none of `hide`. The view's filters and its focus
    choose the stacks. If the selection has sample labels, only these samples count, also in the
    totals of the steps. Steps begin at round times of UTC, by default as `choose_step` chooses.
    Raise InvalidQuery also if there are more than MAX_STEPS steps, or if a pattern is invalid.
    """
    is_offered = _name_filter(show, hide)
    step = step or choose_step(selection.end - selection.start)
    starts = step_starts(selection, step)
    merged = _HistoryMerge(selection, view, tuple(starts), step).run(context)
    sums = merged.sum
    tree = apply_view(context, sums.tree, replace(view, shape=Shape.TOP_DOWN))
    series = SeriesByFunction(tree, context.check)
    return HistoryResult(
        selection=selection,
        view=view,
        metric=merged.metric,
        metrics=merged.metrics,
        coverage=sums.coverage(),
        step_seconds=step.total_seconds(),
        steps=_steps(starts, sums.stats, tree),
        lines=_lines(series, names, is_offered, len(starts), min(lines, MAX_LINES)),
        versions=_versions(context, sums.deployments),
    )


def _name_filter(show: Sequence[str], hide: Sequence[str]) -> Callable[[str], bool]:
    try:
        shows, hides = [matcher(value) for value in show], [matcher(value) for value in hide]
    except BadFilterPattern as error:
        raise InvalidQuery(str(error)) from error

    def is_offered(name: str) -> bool:
        shown = not shows or any(matches(name) for matches in shows)
        return shown and not any(matches(name) for matches in hides)

    return is_offered


def _versions(
    context: QueryContext, deployments: Mapping[int, TimeSpan]
) -> tuple[VersionSpan, ...]:
    versions: dict[str, TimeSpan] = {}
    by_pk = deployments_by_pk(context, deployments)
    for pk, span in deployments.items():
        if pk not in by_pk:
            continue
        version = by_pk[pk].version
        versions[version] = _join_spans(versions[version], span) if version in versions else span
    spans = [
        VersionSpan(version, to_datetime(span.first), to_datetime(span.last), span.profiles)
        for version, span in versions.items()
    ]
    return tuple(sorted(spans, key=lambda span: (span.first, span.version)))


def _join_spans(span: TimeSpan, new: TimeSpan) -> TimeSpan:
    if span is new:
        return new
    first, last = min(span.first, new.first), max(span.last, new.last)
    return TimeSpan(first, last, span.profiles + new.profiles)


@encodable
@dataclass(frozen=True, slots=True)
class SeriesSums:
    """Sums of a history by time step, before its view."""

    tree: Tree  # its metrics are the steps
    stats: list[ScanStats]  # by step
    deployments: dict[int, TimeSpan]  # by Deployment.pk

    def coverage(self) -> Coverage:
        whole = ScanStats()
        for stats in self.stats:
            whole.add(stats)
        return whole.coverage()


@dataclass(frozen=True)
class _HistoryMerge(ProfilesQuery[SeriesSums], CachedQuery[QueryPlan, SeriesSums]):
    """Merge of all matching profiles by step."""

    selection: ProfileSelection
    view: View
    starts: tuple[datetime, ...]  # of the steps
    step: timedelta

    @property
    def options(self) -> ReadOptions:
        # Trees by function have no sample labels.
        trees = Trees.WHOLE if self.selection.samples else Trees.FUNCTIONS
        return ReadOptions(trees=trees, cuts=self.starts)

    @property
    def cache_key(self) -> timedelta:
        return self.step

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> SeriesSums:
        stats = [ScanStats() for _ in self.starts]
        deployments: dict[int, TimeSpan] = {}
        selection = self.selection
        with explain_errors(), scan(context, plan, metric) as inputs:
            merge = TimeSeriesMerge(metric, len(self.starts), selection.type, context.check)
            for each in inputs:
                merge.step = max(0, (each.start - self.starts[0]) // self.step)
                if selection.samples:
                    _add_samples(context, selection, each, merge, stats[merge.step])
                else:
                    each.read_into(merge, stats[merge.step])
                _add_deployments(each, deployments)
            require_64_bits(sum(each.total for each in stats))
            return SeriesSums(merge.tree(), stats, deployments)

    def count_numbers(self, result: SeriesSums) -> int:
        return result.tree.self.size

    def is_readable(self, result: SeriesSums) -> bool:
        return not any(stats.missing for stats in result.stats)


def _add_samples(
    context: QueryContext,
    selection: ProfileSelection,
    scan_input: ProfilesInput,
    merge: TimeSeriesMerge,
    stats: ScanStats,
) -> None:
    """Add the selected samples of an input to the current step; `stats` counts whole profiles."""
    whole = Merge([merge.metric], False, settings.MAX_QUERY_NODES, selection.type, context.check)
    scan_input.read_into(whole, stats)
    merge.add_tree(select_samples(whole.tree(), selection.samples, context.check))


def _add_deployments(scan_input: ProfilesInput, deployments: dict[int, TimeSpan]) -> None:
    columns = scan_input.dimension(ScanStats())  # `read_into` has counted the profiles
    for pk in np.unique(columns.deployment).tolist():
        times = columns.time[columns.deployment == pk]
        new = TimeSpan(int(times.min()), int(times.max()), len(times))
        deployments[pk] = _join_spans(deployments.get(pk, new), new)


def _steps(starts: list[datetime], stats: list[ScanStats], tree: Tree) -> tuple[HistoryStep, ...]:
    totals = tree.self.sum(axis=1).tolist()
    return tuple(
        HistoryStep(start, step_stats.profiles, total, step_stats.duration_ns)
        for start, step_stats, total in zip(starts, stats, totals, strict=True)
    )


def _lines(
    series: SeriesByFunction,
    names: Sequence[str],
    is_offered: Callable[[str], bool],
    steps: int,
    count: int,
) -> tuple[HistoryLine, ...]:
    if not names:
        return tuple(map(_line, series.select(series.top(count, is_offered))))
    lines: list[HistoryLine] = []
    for name in dict.fromkeys(names[:MAX_LINES]):
        named = series.select(series.find_named(name))
        lines += map(_line, named or [FunctionSeries(name, "", [0] * steps, [0] * steps)])
    return tuple(lines)


def _line(function: FunctionSeries) -> HistoryLine:
    return HistoryLine(function.name, function.file, tuple(function.self), tuple(function.total))


def history_document(result: HistoryResult) -> dict[str, Any]:
    """Return the fields of the query API, besides those of the selection."""
    return {
        "metric": result.metric._asdict(),
        "step_s": result.step_seconds,
        "steps": steps_document(result.steps),
        "functions": [
            {"name": line.name, "file": line.file, "self": line.self, "total": line.total}
            for line in result.lines
        ],
        "versions": [
            {
                "version": span.version,
                "first": span.first,
                "last": span.last,
                "profiles": span.profiles,
            }
            for span in result.versions
        ],
    }
