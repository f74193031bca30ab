"""Significance tests for the differences between two sets of profiles.

Each quantity (the total of a node or of a function) has one value per profile. The inputs for each
side are the number of profiles, Σ, Σ², and the number of profiles in which the value is not zero.
The interval is Welch's; docs/decisions/0008-significance.md explains the deviations from it, and
benchmarks/engine/significance.py validates them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.stats.student_t import half_width, two_sided

Floats = NDArray[np.float64]
Courses = Sequence[Sequence[float]]  # for each quantity its value in each step

REAL = 0.05  # false discovery rate below which a difference is called significant
MIN_PROFILES = 8  # on each side, and profiles of both sides with the value
MIN_SHUFFLED = 1e-3  # no test if even the most extreme permutation has a larger p

_BORROWED = 8  # degrees of freedom of the pooled variance in each side's variance
_MARGIN = 1.5  # factor on Benjamini-Hochberg: skewed counts deviate from t
_ROUNDING = 1e-12  # of Σ²: a smaller variance is rounding error of float64 sums
_FAR = 2000  # profiles; the probability of permuting more to one side is nil


class SampleVariance(NamedTuple):
    """Statistics of one side of a comparison, for M quantities."""

    profiles: int
    sums: Floats  # [M], Σ over the profiles
    squares: Floats  # [M], Σ²
    present: NDArray[np.int64]  # [M], profiles in which the value is not zero


class Differences(NamedTuple):
    """Differences a - b of per-profile means, each [M]; NaN if not tested."""

    low: Floats  # 95 % interval
    high: Floats
    p: Floats  # two-sided


def differences(a: SampleVariance, b: SampleVariance, check: Check = never_cancel) -> Differences:
    """Test the quantities that occur often enough on both sides together.

    The selection depends on both sides' profiles alike: a threshold on one side alone would select
    quantities that this side has more of by chance.
    """
    check()
    most_a, most_b = _one_sided(a, b), _one_sided(b, a)
    enough = min(a.profiles, b.profiles) >= MIN_PROFILES
    tested = (a.present + b.present >= MIN_PROFILES) & (np.minimum(most_a, most_b) <= MIN_SHUFFLED)
    nodes = np.flatnonzero(tested & enough)
    found = np.full((3, len(tested)), np.nan)
    found[:, nodes] = _welch(_select(a, nodes), _select(b, nodes), most_a[nodes], most_b[nodes])
    return Differences(*found)


def false_discoveries(p: Floats, check: Check = never_cancel) -> Floats:
    """Compute q values: the false discovery rate among all p at least as small; NaN stays NaN."""
    check()
    q = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    count = len(order)
    steps = _MARGIN * p[order] * count / np.arange(1, count + 1)
    q[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1)
    return q


def apply_gate(q: Floats, gate: Floats) -> Floats:
    """Raise the q values of a second family to at least the smallest q value in `gate`.

    Nothing in the second family is significant unless something in `gate` is. Therefore the two
    families together show a chance result no more often than the first alone.
    """
    tested = gate[~np.isnan(gate)]
    opened: Floats = np.maximum(q, tested.min() if len(tested) else 1.0)
    return opened


def _select(side: SampleVariance, nodes: NDArray[np.int64]) -> SampleVariance:
    return SampleVariance(side.profiles, side.sums[nodes], side.squares[nodes], side.present[nodes])


def _welch(a: SampleVariance, b: SampleVariance, most_a: Floats, most_b: Floats) -> Floats:
    (rest_a, free_a), (rest_b, free_b) = _rest(a), _rest(b)
    common = (rest_a + rest_b) / (a.profiles + b.profiles - 2)
    error_a, free_a = _error(a, rest_a, free_a, common)
    error_b, free_b = _error(b, rest_b, free_b, common)
    error = error_a + error_b
    df = error**2 / (error_a**2 / free_a + error_b**2 / free_b)
    difference = a.sums / a.profiles - b.sums / b.profiles
    width = half_width(df) * np.sqrt(error)
    p = two_sided(difference / np.sqrt(error), df)
    shuffled = np.where(difference > 0, most_a, most_b)
    return np.array([difference - width, difference + width, np.maximum(p, shuffled)])


def _rest(side: SampleVariance) -> tuple[Floats, Floats]:
    """Return Σ(x - mean)², and its degrees of freedom: zeros carry no information."""
    rest = side.squares - side.sums**2 / side.profiles
    return np.maximum(rest, _ROUNDING * side.squares), np.maximum(side.present - 1.0, 0)


def _error(
    side: SampleVariance, rest: Floats, free: Floats, common: Floats
) -> tuple[Floats, Floats]:
    """Return the squared standard error of the mean, and its degrees of freedom.

    If a value occurs in two of ten profiles of a side, the side's variance is unreliable: the rarer
    a value, the more weight has the variance pooled over both sides.
    """
    variance = (free * rest / (side.profiles - 1) + _BORROWED * common) / (free + _BORROWED)
    return variance / side.profiles, np.maximum(free, MIN_PROFILES - 1)


def _one_sided(side: SampleVariance, other: SampleVariance) -> Floats:
    """Return twice the probability that a permutation puts all nonzero values on this side, [M].

    It is a lower bound for p: eight profiles against eight may differ by chance alone in one of
    6,435 permutations, whatever their values are.
    """
    steps = np.arange(min(side.profiles, _FAR), dtype=np.float64)
    all_of = side.profiles + other.profiles
    logs = np.cumsum(np.log((side.profiles - steps) / (all_of - steps)))
    likely = np.minimum(2 * np.exp(np.concatenate([[0.0], logs])), 1)
    found: Floats = likely[np.minimum(side.present + other.present, len(likely) - 1)]
    return found


class SeriesChange(NamedTuple):
    difference: float  # difference of means, after - before
    tested: bool  # False: too few steps for a test
    real: bool  # significant: the false discovery rate is at most REAL


def series_changes(before: Courses, after: Courses) -> list[SeriesChange]:
    """Test the change of each quantity from one time range to another, by its value in each step.

    Steps are separate in time and contain different profiles, so the number of steps, not of
    profiles, determines the confidence in a difference.

    Within a range, all quantities have values for the same steps, at least one.
    """
    a, b = _sample_variance(after), _sample_variance(before)
    q = false_discoveries(differences(a, b).p)
    found = a.sums / a.profiles - b.sums / b.profiles
    return [
        SeriesChange(value, tested=not np.isnan(rate), real=bool(rate <= REAL))
        for value, rate in zip(found.tolist(), q.tolist(), strict=True)
    ]


def _sample_variance(courses: Courses) -> SampleVariance:
    values = np.array(courses, dtype=np.float64)
    return SampleVariance(
        profiles=values.shape[1],
        sums=values.sum(axis=1),
        squares=(values**2).sum(axis=1),
        present=np.count_nonzero(values, axis=1),
    )
