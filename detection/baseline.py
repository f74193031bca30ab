"""Expected cost of each function by load and hour of the day, and the noise around it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from detection.series import Floats, ServiceSeries

HISTORY_HOURS = 240
ANALYSIS_HOURS = 24
CONFIRMATION_HOURS = 24
WINDOW_HOURS = HISTORY_HOURS + ANALYSIS_HOURS + CONFIRMATION_HOURS
MIN_HISTORY_HOURS = 120  # with profiles: below this there is no baseline

_NEW = 20  # times the cost before: a function is new
_BLOCK_HOURS = 6  # of one correction of the load
_MIN_REFERENCES = 8  # functions whose median corrects the load
_MAX_REFERENCE_ERROR = 0.1  # relative standard error of a reference in a block
_POOLED_WEIGHT = 20.0  # degrees of freedom of the inflation pooled over a service
_CHI_SQUARE_MEDIAN = 0.93  # of χ² / df at 9 degrees of freedom


@dataclass(frozen=True)
class SeriesChanges:
    """Changes of all series against the history, per profile, [S]: self values, then totals."""

    delta: Floats
    errors: Floats  # standard errors

    @cached_property
    def scores(self) -> Floats:
        """Return the changes in standard errors."""
        return np.asarray(self.delta / np.maximum(self.errors, 1e-300), np.float64)


@dataclass(frozen=True, slots=True)
class Baseline:
    """Residuals of S = 2 F series: self values of all functions, then their totals."""

    residuals: Floats  # [S, H], value per profile less the expected one; 0 without profiles
    means: Floats  # [S], expected value per profile at the load of the latest 24 hours
    variances: Floats  # [S], of one profile's residual
    inflation: Floats  # [S], factor on the variance of means over a day
    profiles: Floats  # [H]
    end: int  # hours before it are known
    share_scores: Floats  # [S], change of the plain share in standard errors

    @property
    def history(self) -> slice:
        return slice(self.end - WINDOW_HOURS, self.end - ANALYSIS_HOURS - CONFIRMATION_HOURS)

    def measure_changes(self, start: int) -> SeriesChanges:
        """Return mean residuals from `start` to the end, less those of the history."""
        after = self.profiles[start : self.end]
        history = self.profiles[self.history]
        count = max(float(after.sum()), 1.0)
        delta = self.residuals[:, start : self.end] @ after / count
        # Variance grows with the mean. That of new functions was measured after the change.
        is_new = self.means <= delta / _NEW
        growth = np.where(is_new, 1, np.maximum(1, 1 + delta / np.maximum(self.means, 1e-300)))
        each = growth / count + 1 / history.sum()
        return SeriesChanges(delta, np.sqrt(self.variances * self.inflation * each))


def stack_sums(series: ServiceSeries) -> Floats:
    return np.concatenate([series.self_sums, series.total_sums])


def fit_baseline(series: ServiceSeries, end: int) -> Baseline | None:
    """Fit value = a + b · load + hour of the day on the 10 days before the analysis day.

    Return None if fewer than MIN_HISTORY_HOURS hours of the history have profiles, or if the last
    day has none.
    """
    history = slice(end - WINDOW_HOURS, end - ANALYSIS_HOURS - CONFIRMATION_HOURS)
    weights = series.profiles[:end].astype(np.float64)
    if end < WINDOW_HOURS or np.count_nonzero(weights[history]) < MIN_HISTORY_HOURS:
        return None
    if not weights[end - CONFIRMATION_HOURS :].any():
        return None
    sums = stack_sums(series)[:, :end]
    values = sums / np.maximum(weights, 1)
    load = _correct_load(series, history, end)
    residuals, fitted = _fit_load(values, load, weights, history)
    residuals -= _hourly_means(residuals, weights, history, end)
    residuals *= weights > 0
    used = weights[history]
    spare = max(int(np.count_nonzero(used)) - 26, 1)
    squares = residuals[:, history] ** 2
    variances = np.maximum(squares @ used / spare, _variance_floor(series, end))
    inflation = _day_inflation(residuals[:, history], used, variances)
    day = slice(end - CONFIRMATION_HOURS, end)
    means = np.maximum(fitted[:, day] @ weights[day] / weights[day].sum(), 0)
    shares = _score_shares(values, load, weights, history)
    return Baseline(residuals, means, variances, inflation, weights, end, shares)


def _correct_load(series: ServiceSeries, history: slice, end: int) -> Floats:
    """Return the load: a profile's mean total, unmoved by a few functions that change.

    In each block the total is multiplied by the median ratio of the functions' shares to their
    shares in the history, so that one function that grows makes no other one shrink.
    """
    profiles, totals = series.profiles[:end], series.totals[:end]
    sums, squares = series.self_sums[:, :end], series.self_squares[:, :end]
    starts = np.arange(end % _BLOCK_HOURS, end, _BLOCK_HOURS)
    if len(starts) and starts[0]:
        starts = np.concatenate([[0], starts])
    share = sums[:, history].sum(axis=1) / max(float(totals[history].sum()), 1e-300)
    count = np.maximum(profiles[history].sum(), 1)
    mean = sums[:, history].sum(axis=1) / count
    variance = squares[:, history].sum(axis=1) / count - mean**2
    per_block = count / HISTORY_HOURS * _BLOCK_HOURS
    error = np.sqrt(np.maximum(variance, 0) / per_block) / np.maximum(mean, 1e-300)
    references = (share > 0) & (error < _MAX_REFERENCE_ERROR)
    load = totals / np.maximum(profiles, 1)
    if np.count_nonzero(references) < _MIN_REFERENCES:
        return np.asarray(load, np.float64)
    blocks = np.add.reduceat(sums[references], starts, axis=1)
    whole = np.maximum(np.add.reduceat(totals, starts), 1e-300)
    ratios = np.median(blocks / whole / share[references, None], axis=0)
    ratios[ratios <= 0] = 1
    return np.asarray(load * np.repeat(ratios, np.diff([*starts, end])), np.float64)


def _fit_load(
    values: Floats, load: Floats, weights: Floats, history: slice
) -> tuple[Floats, Floats]:
    used, past = weights[history], load[history]
    whole = used.sum()
    middle = past @ used / whole
    means = values[:, history] @ used / whole
    spread = (past - middle) ** 2 @ used
    slope = (
        (values[:, history] - means[:, None])
        @ ((past - middle) * used)
        / max(float(spread), 1e-300)
    )
    if spread <= 1e-6 * middle**2 * whole:  # the load never varied: costs follow it
        slope = means / max(middle, 1e-300)
    fitted = means[:, None] + slope[:, None] * (load - middle)
    return values - fitted, fitted


def _hourly_means(residuals: Floats, weights: Floats, history: slice, end: int) -> Floats:
    """Return the history's mean residual of each hour's hour of the day, [S, H]."""
    hours = np.arange(end) % 24
    by_hour = np.zeros((len(residuals), 24))
    past = hours[history]
    for hour in range(24):
        chosen = past == hour
        count = weights[history][chosen].sum()
        if count:
            sums = residuals[:, history][:, chosen] @ weights[history][chosen]
            by_hour[:, hour] = sums / count
    return by_hour[:, hours]


def _variance_floor(series: ServiceSeries, end: int) -> Floats:
    """Return half the variance between profiles of the last day for new functions, else 0, [S]."""
    day = slice(end - CONFIRMATION_HOURS, end)
    count = max(float(series.profiles[day].sum()), 1.0)
    sums = stack_sums(series)
    mean = sums[:, day].sum(axis=1) / count
    squares = np.concatenate([series.self_squares[:, day], series.total_squares[:, day]])
    variance = np.maximum(squares.sum(axis=1) / count - mean**2, 0)
    before = sums[:, :end][:, end - WINDOW_HOURS : end - ANALYSIS_HOURS - CONFIRMATION_HOURS]
    past = max(series.profiles[end - WINDOW_HOURS : day.start - ANALYSIS_HOURS].sum(), 1.0)
    is_new = before.sum(axis=1) / past < mean / _NEW
    return np.where(is_new, variance, 0.0)


def _day_inflation(residuals: Floats, weights: Floats, variances: Floats) -> Floats:
    days = weights.reshape(-1, 24).sum(axis=1)
    sums = (residuals * weights).reshape(len(residuals), -1, 24).sum(axis=2)
    seen = days > 0
    spread = (sums[:, seen] ** 2 / days[seen]).sum(axis=1) / max(int(np.count_nonzero(seen)) - 1, 1)
    own = spread / np.maximum(variances, 1e-300)
    live = own[variances > 0]
    pooled = max(float(np.median(live)) / _CHI_SQUARE_MEDIAN, 1.0) if len(live) else 1.0
    moderated = (_POOLED_WEIGHT * pooled + 9 * own) / (_POOLED_WEIGHT + 9)
    return np.asarray(np.maximum(moderated, pooled), np.float64)


def _score_shares(values: Floats, load: Floats, weights: Floats, history: slice) -> Floats:
    shares = values / np.maximum(load, 1e-300)
    used = weights[history]
    means = shares[:, history] @ used / used.sum()
    variances = (shares[:, history] - means[:, None]) ** 2 @ used / max(len(used) - 1, 1)
    after = weights[-CONFIRMATION_HOURS:]
    delta = shares[:, -CONFIRMATION_HOURS:] @ after / after.sum() - means
    spread = np.maximum(variances, 1e-300) * (1 / after.sum() + 1 / used.sum())
    return np.asarray(delta / np.sqrt(spread), np.float64)
