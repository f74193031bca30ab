"""Detection for one service: screen, checks of each candidate, and one finding for each cause."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from detection.attribution import attribute_version
from detection.baseline import (
    ANALYSIS_HOURS,
    CONFIRMATION_HOURS,
    WINDOW_HOURS,
    Baseline,
    SeriesChanges,
    fit_baseline,
)
from detection.change_point import find_change_point
from detection.checks import check_lasting, check_seasonality
from detection.cost_shift import check_cost_shift
from detection.findings import ChangeCandidate, Check, CheckStage, DetectedChange, Detection
from detection.power import SCREEN_SCORE, two_sided_p
from detection.series import Floats, ServiceSeries

MAX_RELATIVE_ERROR = 0.05  # of a day's mean: 400 samples, below which tails are not normal
# Costs wander by less for reasons that no version has.
MIN_RELATIVE_CHANGE = 0.02
_SAME_CAUSE_HOURS = 12
_EXPLAINED = 0.8  # of the largest change of a group, by its deepest function
_MIN_SHIFTED = 0.6  # of a total, by callees whose cost moved
_INTERVAL = 1.959964


@dataclass(slots=True)
class _Trial:
    """Series that the screen selected, while it is checked."""

    index: int  # of the 2 F series
    function: int
    is_self: bool
    score: float
    checks: list[Check]
    start: int = 0
    changes: SeriesChanges | None = None

    @property
    def is_alive(self) -> bool:
        return all(check.passed for check in self.checks)


def detect_changes(series: ServiceSeries, end: int, max_p: float) -> Detection:
    """Find changes that began between 48 and 24 hours before `end`, an index of the hours.

    `max_p` is the largest p of one test (`power.max_p`).
    """
    baseline = fit_baseline(series, end)
    if baseline is None:
        return Detection((), (), None)
    latest = baseline.measure_changes(end - CONFIRMATION_HOURS)
    trials = _screen(series, baseline, latest.scores)
    for trial in trials:
        _check_alone(baseline, latest, trial, max_p)
    alive = [trial for trial in trials if trial.is_alive]
    for trial in alive:
        trial.changes = baseline.measure_changes(trial.start)
    _check_shifts(series, baseline, alive)
    findings = _merge_duplicates(series, baseline, [each for each in alive if each.is_alive])
    dropped = [_candidate(series, trial) for trial in trials if not trial.is_alive]
    ranked = sorted(findings, key=lambda finding: -finding.rank)
    return Detection(tuple(ranked), tuple(dropped), baseline)


def _screen(series: ServiceSeries, baseline: Baseline, scores: Floats) -> list[_Trial]:
    """Select series by the scores of the last 24 hours."""
    count = len(series.functions)
    selected = np.abs(scores) >= SCREEN_SCORE
    selected |= np.abs(baseline.share_scores) >= SCREEN_SCORE
    selected &= baseline.variances > 0
    return [
        _Trial(index, index % count, index < count, float(scores[index]), [])
        for index in np.flatnonzero(selected).tolist()
    ]


def _check_alone(baseline: Baseline, latest: SeriesChanges, trial: _Trial, max_p: float) -> None:
    """Append the checks that need no other series, until one fails."""
    index, end = trial.index, baseline.end
    delta, errors = float(latest.delta[index]), float(latest.errors[index])
    level = max(float(baseline.means[index]), baseline.means[index] + delta)
    precision = errors / level if level > 0 else inf
    passed = precision <= MAX_RELATIVE_ERROR
    trial.checks.append(Check(CheckStage.SAMPLES, passed, {"relative_error": precision}))
    if not passed:
        return
    relative = abs(delta) / level
    passed = relative >= MIN_RELATIVE_CHANGE
    trial.checks.append(Check(CheckStage.SIZE, passed, {"relative": relative}))
    if not passed:
        return
    evidence = {"score": trial.score, "share_score": float(baseline.share_scores[index])}
    passed = abs(trial.score) >= SCREEN_SCORE
    trial.checks.append(Check(CheckStage.TRAFFIC, passed, evidence))
    if not passed:
        return
    window = slice(end - WINDOW_HOURS, end)
    noise = float(baseline.variances[index] * baseline.inflation[index])
    growth = max(1.0, 1 + delta / max(float(baseline.means[index]), level / 20))
    point = find_change_point(baseline.residuals[index, window], baseline.profiles[window], noise)
    trial.start = point.hour + window.start
    age = end - trial.start
    passed = CONFIRMATION_HOURS <= age <= CONFIRMATION_HOURS + ANALYSIS_HOURS
    trial.checks.append(Check(CheckStage.CHANGE_POINT, passed, {"hours_ago": float(age)}))
    if not passed:
        return
    statistic = point.statistic / growth
    p = two_sided_p(sqrt(statistic))
    trial.checks.append(
        Check(
            CheckStage.SIGNIFICANCE, p <= max_p, {"p": p, "max_p": max_p, "chi_square": statistic}
        )
    )
    for check in (check_lasting, check_seasonality):
        if trial.is_alive:
            trial.checks.append(check(baseline, index, trial.start))


def _check_shifts(series: ServiceSeries, baseline: Baseline, trials: Sequence[_Trial]) -> None:
    """Check self values first: a total that a shifted callee explains is shifted, too."""
    count = len(series.functions)
    shifted: list[_Trial] = []
    for trial in sorted(trials, key=lambda each: not each.is_self):
        changes = _changes(trial)
        check = check_cost_shift(series, baseline, changes, trial.function, trial.is_self)
        if check.passed and not trial.is_self:
            delta = changes.delta[count + trial.function]
            inner = [each for each in shifted if series.ancestors[each.function, trial.function]]
            moved = sum(float(changes.delta[each.function]) for each in inner) / delta
            if moved >= _MIN_SHIFTED:
                names = tuple(series.functions[each.function].name for each in inner)
                check = Check(CheckStage.COST_SHIFT, False, {"moved": moved}, names)
        trial.checks.append(check)
        if not check.passed and trial.is_self:
            shifted.append(trial)


def _merge_duplicates(
    series: ServiceSeries, baseline: Baseline, trials: Sequence[_Trial]
) -> list[DetectedChange]:
    """Make one finding of each group with the same cause; the others fail the last check."""
    findings = []
    for group in _group(series, trials):
        cause = _find_cause(series, group)
        name = series.functions[cause.function].name
        for trial in group:
            evidence = {"hours_apart": float(abs(trial.start - cause.start))}
            trial.checks.append(Check(CheckStage.DUPLICATE, trial is cause, evidence, (name,)))
        names = {series.functions[each.function].name for each in group} - {name}
        found = _build_finding(series, baseline, cause)
        findings.append(replace(found, merged=tuple(sorted(names))))
    return findings


def _group(series: ServiceSeries, trials: Sequence[_Trial]) -> list[list[_Trial]]:
    """Group changes of one direction and time whose stacks overlap, or that share a caller."""
    groups: list[list[_Trial]] = []
    for trial in trials:
        related = [
            group for group in groups if any(_is_related(series, trial, each) for each in group)
        ]
        groups = [group for group in groups if group not in related]
        groups.append([trial, *(each for group in related for each in group)])
    return groups


def _is_related(series: ServiceSeries, a: _Trial, b: _Trial) -> bool:
    if abs(a.start - b.start) > _SAME_CAUSE_HOURS or (a.score > 0) != (b.score > 0):
        return False
    f, g = a.function, b.function
    overlap = series.ancestors[f, g] or series.ancestors[g, f]
    return bool(overlap or series.parent[f] == series.parent[g])


def _find_cause(series: ServiceSeries, group: Sequence[_Trial]) -> _Trial:
    """Return the deepest change that explains most of the largest one of the group."""
    largest = max(abs(_change(each)) for each in group)
    deep = [each for each in group if abs(_change(each)) >= _EXPLAINED * largest]
    return max(deep, key=lambda each: (series.depth[each.function], each.is_self))


def _changes(trial: _Trial) -> SeriesChanges:
    if trial.changes is None:
        raise ValueError("The changes at its change point are not measured yet.")
    return trial.changes


def _change(trial: _Trial) -> float:
    return float(_changes(trial).delta[trial.index])


def _build_finding(series: ServiceSeries, baseline: Baseline, trial: _Trial) -> DetectedChange:
    # Of the latest day, as `before` is: over other hours the load would be another one.
    latest = baseline.measure_changes(baseline.end - CONFIRMATION_HOURS)
    change, error = float(latest.delta[trial.index]), float(latest.errors[trial.index])
    before = float(baseline.means[trial.index])
    relative = change / before if before > 0 else inf
    version = attribute_version(series, baseline, trial.index, trial.start)
    statistics = {check.stage: check.evidence for check in trial.checks}
    load = float(baseline.means[: len(series.functions)].sum())
    absolute = min(1.0, abs(change) / max(load, 1e-300) / 0.05)  # 5 % of a service is most urgent
    has_version = 1.0 if version.version else 0.0
    rarity = 1.0 / (1 + np.count_nonzero(series.ancestors[:, trial.function]))
    return DetectedChange(
        candidate=_candidate(series, trial),
        change_hour=series.first_hour + trial.start,
        change=change,
        low=change - _INTERVAL * error,
        high=change + _INTERVAL * error,
        relative=relative,
        before=before,
        after=before + change,
        p=statistics[CheckStage.SIGNIFICANCE]["p"],
        profiles_before=int(baseline.profiles[baseline.history].sum()),
        profiles_after=int(baseline.profiles[trial.start :].sum()),
        version_before=version.before,
        version=version.version,
        rank=0.6 * absolute + 0.2 * min(1.0, abs(relative)) + 0.1 * rarity + 0.1 * has_version,
    )


def _candidate(series: ServiceSeries, trial: _Trial) -> ChangeCandidate:
    name = series.functions[trial.function].name
    checks = tuple(trial.checks)
    identity = (series.service, series.type, trial.function, name)
    return ChangeCandidate(*identity, trial.is_self, trial.score, checks)
