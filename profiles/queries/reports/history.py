"""History: costs of functions over time, step by step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from profiles.engine.calltree.patterns import BadFilterPattern, matcher
from profiles.engine.calltree.tree import Tree
from profiles.engine.metrics import Metric
from profiles.engine.stats.time_series import FunctionSeries, SeriesByFunction, TimeSeriesMerge
from profiles.queries import result_cache
from profiles.queries.aggregate import explained, refuse_beyond_64_bits
from profiles.queries.planning.deployment_names import deployments
from profiles.queries.planning.metric_choice import chosen, metrics_of
from profiles.queries.rendering.view import shown
from profiles.queries.results import Coverage, HistoryLine, HistoryResult, HistoryStep, VersionSpan
from profiles.queries.scanning.scan import scan
from profiles.queries.scanning.scan_input import ScanInput, Trees
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import InvalidQuery, Selection, Shape, View, watched
from profiles.storage.snapshot import snapshot
from profiles.timestamps import moment, rounded_down

LINES = 5  # number of top functions to return by default
MAX_LINES = 50
MAX_STEPS = 400
_DAY = timedelta(days=1)
# Lengths that divide a day, so that steps begin at round times of UTC; then days and weeks.
_WITHIN_A_DAY = [
    timedelta(seconds=seconds)
    for seconds in (1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200)
]
_MOST_WITHIN_A_DAY = 60  # steps
_MOST_DAYS = 120


@watched
def run_history(
    selection: Selection,
    view: View,
    deadline: float | None = None,
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
    they match any of `show`, if it is given, and none of `hide`. The view's filters choose the
    stacks. Steps begin at round times of UTC; by default they are those of `step_of`. Raise
    InvalidQuery also if there are more than MAX_STEPS steps, or if a pattern is invalid.
    """
    wanted = _wanted(show, hide)
    step = step or step_of(selection.end - selection.start)
    starts = _starts(selection, step)
    with snapshot():
        metrics = metrics_of(selection)
        metric = chosen(selection, view, metrics)
        found = _merged(selection, metric, starts, step, deadline)
    tree = shown(found.tree, replace(view, shape=Shape.TOP_DOWN))
    courses = SeriesByFunction(tree)
    return HistoryResult(
        selection=selection,
        view=view,
        metric=metric,
        metrics=metrics,
        coverage=found.coverage(),
        step_seconds=step.total_seconds(),
        steps=_steps(starts, found.used, tree),
        lines=_lines(courses, names, wanted, len(starts), min(lines, MAX_LINES)),
        versions=found.versions(),
    )


def step_of(span: timedelta) -> timedelta:
    """Return a round step: a day for 30 to 120 days, less for less, whole weeks for more."""
    for step in _WITHIN_A_DAY:
        if span / step < _MOST_WITHIN_A_DAY:
            return step
    if span / _DAY <= _MOST_DAYS:
        return _DAY
    weeks = -(-span // (7 * _DAY * _MOST_DAYS))
    return 7 * _DAY * weeks


def _wanted(show: Sequence[str], hide: Sequence[str]) -> Callable[[str], bool]:
    try:
        shows, hides = [matcher(value) for value in show], [matcher(value) for value in hide]
    except BadFilterPattern as error:
        raise InvalidQuery(str(error)) from error

    def wanted(name: str) -> bool:
        shown = not shows or any(matches(name) for matches in shows)
        return shown and not any(matches(name) for matches in hides)

    return wanted


def _starts(selection: Selection, step: timedelta) -> list[datetime]:
    if selection.end <= selection.start or step < timedelta(seconds=1):
        raise InvalidQuery(
            "A history has steps of at least a second, of a range that is not empty."
        )
    first = rounded_down(selection.start, step)
    count = -((first - selection.end) // step)
    if count > MAX_STEPS:
        raise InvalidQuery(
            f"A history has at most {MAX_STEPS} steps; steps of {step} make {count} of this range."
        )
    return [first + i * step for i in range(count)]


@dataclass(slots=True)
class _Span:
    first: int  # µs since 1970
    last: int
    profiles: int


@dataclass(slots=True)
class _Merged:
    """Merge in progress of all matching profiles by step, with the deployments they are of."""

    merge: TimeSeriesMerge
    used: list[ScanStats]
    deployments: dict[int, _Span] = field(default_factory=dict)

    def add(self, part: ScanInput, step: int) -> None:
        self.merge.step = step
        part.add_to(self.merge, self.used[step])
        known = part.dimension(ScanStats())  # discard the counts: `add_to` has counted them
        for deployment in np.unique(known.deployment).tolist():
            times = known.time[known.deployment == deployment]
            new = _Span(int(times.min()), int(times.max()), len(times))
            self.deployments[deployment] = _joined(self.deployments.get(deployment, new), new)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Result of the merge by step, which may come from the result cache: do not modify it."""

    tree: Tree  # its metrics are the steps
    used: list[ScanStats]  # by step
    deployments: dict[int, _Span]

    def coverage(self) -> Coverage:
        whole = ScanStats()
        for used in self.used:
            whole.add(used)
        return whole.coverage()

    def versions(self) -> tuple[VersionSpan, ...]:
        versions: dict[str, _Span] = {}
        known = deployments(self.deployments)
        for deployment, span in self.deployments.items():
            if deployment not in known:
                continue
            version = known[deployment].version
            versions[version] = _joined(versions[version], span) if version in versions else span
        spans = [
            VersionSpan(version, moment(span.first), moment(span.last), span.profiles)
            for version, span in versions.items()
        ]
        return tuple(sorted(spans, key=lambda span: (span.first, span.version)))


_sums = result_cache.ResultCache[_Sums]()


def _joined(span: _Span, new: _Span) -> _Span:
    if span is new:
        return new
    first, last = min(span.first, new.first), max(span.last, new.last)
    return _Span(first, last, span.profiles + new.profiles)


def _merged(
    selection: Selection,
    metric: Metric,
    starts: list[datetime],
    step: timedelta,
    deadline: float | None,
) -> _Sums:
    """Merge all matching profiles by step.

    The result of a selection that is entirely in blocks is cached and shared: do not modify it.
    """
    found_in = scan(selection, metric, deadline=deadline, cuts=starts, trees=Trees.FUNCTIONS)
    with explained(), found_in as pieces:
        key = result_cache.key(selection, (metric, step), pieces)
        known = _sums.recall(key)
        if known is None:
            found = _Merged(
                TimeSeriesMerge(metric, len(starts), selection.type), [ScanStats() for _ in starts]
            )
            for part in pieces:
                found.add(part, max(0, (part.start - starts[0]) // step))
            refuse_beyond_64_bits(sum(used.total for used in found.used))
            known = _Sums(found.merge.tree(), found.used, found.deployments)
            gaps = any(used.missing for used in found.used)
            _sums.remember(key, sum=known, numbers=known.tree.self.size, gaps=gaps)
        return known


def _steps(starts: list[datetime], used: list[ScanStats], tree: Tree) -> tuple[HistoryStep, ...]:
    totals = tree.self.sum(axis=1).tolist()
    return tuple(
        HistoryStep(start, of.profiles, total, of.duration_ns)
        for start, of, total in zip(starts, used, totals, strict=True)
    )


def _lines(
    courses: SeriesByFunction,
    names: Sequence[str],
    wanted: Callable[[str], bool],
    steps: int,
    count: int,
) -> tuple[HistoryLine, ...]:
    if not names:
        return tuple(map(_line, courses.of(courses.top(count, wanted))))
    found: list[HistoryLine] = []
    for name in dict.fromkeys(names[:MAX_LINES]):
        known = courses.of(courses.named(name))
        found += map(_line, known or [FunctionSeries(name, "", [0] * steps, [0] * steps)])
    return tuple(found)


def _line(course: FunctionSeries) -> HistoryLine:
    return HistoryLine(course.name, course.file, tuple(course.self), tuple(course.total))
