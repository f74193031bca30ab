"""Change point of one series by CUSUM, with a likelihood ratio."""

from typing import NamedTuple

import numpy as np

from detection.series import Floats

MIN_SIDE_HOURS = 12


class ChangePoint(NamedTuple):
    hour: int  # index of the first hour after the change
    statistic: float  # twice the log likelihood ratio: χ² with one degree of freedom


def find_change_point(residuals: Floats, profiles: Floats, variance: float) -> ChangePoint:
    """Return the most likely point at which the mean changed.

    `residuals` are means of `profiles` profiles in each hour; `variance` is that of one profile,
    so the ratio of a step of d is d² ÷ (variance · (1/n₁ + 1/n₂)). A side has at least
    MIN_SIDE_HOURS hours.
    """
    sums, counts = np.cumsum(residuals * profiles), np.cumsum(profiles)
    left = slice(MIN_SIDE_HOURS - 1, len(residuals) - MIN_SIDE_HOURS)
    n, whole = counts[left], counts[-1]
    cusum = sums[left] - n / whole * sums[-1]
    weight = n * (whole - n)
    ratio = np.where(weight > 0, cusum**2 * whole / np.maximum(weight, 1e-300), 0) / variance
    best = int(np.argmax(ratio))
    return ChangePoint(best + MIN_SIDE_HOURS, float(ratio[best]))
