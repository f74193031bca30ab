"""Thresholds of tests, and the smallest change that they find."""

from math import erfc, expm1, log1p, sqrt
from statistics import NormalDist, median

from detection.baseline import Baseline

SCREEN_SCORE = 4.0  # standard errors
_POWER = NormalDist().inv_cdf(0.8)


# Degrees of freedom of a day's variance: 20 pooled over the service, and 9 of the history's days.
_DEGREES_OF_FREEDOM = 29


def two_sided_p(score: float) -> float:
    """Return p of a score with an estimated variance (Student's t, Wallace's approximation)."""
    df = _DEGREES_OF_FREEDOM
    normal = sqrt(df * log1p(score * score / df)) * (8 * df + 1) / (8 * df + 3)
    return erfc(normal / sqrt(2))


def max_p(series_a_day: int, runs_a_day: int, false_findings_a_month: float) -> float:
    """Return the p below which that many false findings a month are expected of unchanged series.

    It is never above 0.01, which one series alone needs.
    """
    return min(0.01, false_findings_a_month / (30 * series_a_day * runs_a_day))


def smallest_detectable_change(
    mean: float, variance: float, profiles_a_day: float, p: float, inflation: float = 1.0
) -> float:
    """Return the relative change that is significant in 80 % of cases, a day after it began.

    `mean` and `variance` are those of one profile's value. The history is ten days. Infinite if
    there are no profiles or the function has no cost.
    """
    if mean <= 0 or profiles_a_day <= 0:
        return float("inf")
    df = _DEGREES_OF_FREEDOM
    normal = NormalDist().inv_cdf(1 - max(p, 1e-15) / 2) * (8 * df + 3) / (8 * df + 1)
    needed = sqrt(df * expm1(normal * normal / df)) + _POWER
    return needed * sqrt(variance * inflation * 1.1 / profiles_a_day) / mean


def find_detectable_change(baseline: Baseline, share: float, p: float) -> float | None:
    """Return the relative change that is found of a function with a share of the self values.

    It is the median over the functions whose self share is between a quarter and four times of
    `share`, scaled to it: the relative noise of samples falls with the square root of the share.
    None if there are no such functions.
    """
    count = len(baseline.means) // 2
    whole = float(baseline.means[:count].sum())
    day = float(baseline.profiles[-24:].sum())
    found = []
    for function in range(count):
        mean, variance = float(baseline.means[function]), float(baseline.variances[function])
        own = mean / whole if whole > 0 else 0.0
        if share / 4 <= own <= share * 4 and variance > 0:
            inflation = float(baseline.inflation[function])
            change = smallest_detectable_change(mean, variance, day, p, inflation)
            found.append(change * sqrt(own / share))
    return median(found) if found else None
