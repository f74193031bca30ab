"""Thresholds of tests, and the smallest change that they find."""

from math import erfc, sqrt
from statistics import NormalDist

SCREEN_SCORE = 4.0  # standard errors
_POWER = NormalDist().inv_cdf(0.8)


def two_sided_p(score: float) -> float:
    return erfc(abs(score) / sqrt(2))


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
    needed = NormalDist().inv_cdf(1 - max(p, 1e-15) / 2) + _POWER
    return needed * sqrt(variance * inflation * 1.1 / profiles_a_day) / mean
