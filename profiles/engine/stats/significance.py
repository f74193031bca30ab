"""Significance: which differences between two sets of profiles are more than chance.

Each quantity (the total of a node or of a function) has one value in each profile. Of either
side are known the number of profiles, Σ, Σ² and in how many the value is not zero. The interval
is Welch's; docs/decisions/0008-significance.md gives the reasons for what goes beyond it, and
benchmarks/significance.py what it was checked with.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.cancellation import checkpoint
from profiles.engine.stats.student_t import half_width, two_sided

Floats = NDArray[np.float64]

REAL = 0.05  # the rate of false discoveries at which a difference is called real
MIN_PROFILES = 8  # on each side, and in how many of both together the value occurs
MIN_SHUFFLED = 1e-3  # what no shuffling of the profiles could show is not tested

_BORROWED = 8  # degrees of freedom that a side's variance takes from both together
_MARGIN = 1.5  # times Benjamini-Hochberg's: what t does not know of skewed counts
_ROUNDING = 1e-12  # of Σ²: a variance below it is what adding up in float64 leaves
_FAR = 2000  # profiles; the chance to shuffle more than that to one side is nil


class SampleVariance(NamedTuple):
    """One side of a comparison, for M quantities."""

    profiles: int
    sums: Floats  # [M], Σ over the profiles
    squares: Floats  # [M], Σ²
    present: NDArray[np.int64]  # [M], profiles in which the value is not zero


class Differences(NamedTuple):
    """Of the per-profile means, A - B; each [M], NaN where nothing was tested."""

    low: Floats  # 95 % interval
    high: Floats
    p: Floats  # two-sided


def differences(a: SampleVariance, b: SampleVariance) -> Differences:
    """What is tested are quantities that both sides together show often enough.

    That depends on both sides' profiles alike: asking one side alone to show something would
    select what that side happens to have more of.
    """
    checkpoint()
    most_a, most_b = _one_sided(a, b), _one_sided(b, a)
    enough = min(a.profiles, b.profiles) >= MIN_PROFILES
    tested = (a.present + b.present >= MIN_PROFILES) & (np.minimum(most_a, most_b) <= MIN_SHUFFLED)
    at = np.flatnonzero(tested & enough)
    found = np.full((3, len(tested)), np.nan)
    found[:, at] = _welch(_of(a, at), _of(b, at), most_a[at], most_b[at])
    return Differences(*found)


def false_discoveries(p: Floats) -> Floats:
    """q: the rate of false ones among all that are at least as small; NaN stays NaN."""
    checkpoint()
    q = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    count = len(order)
    steps = _MARGIN * p[order] * count / np.arange(1, count + 1)
    q[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1)
    return q


def gated(q: Floats, gate: Floats) -> Floats:
    """q of a second family, of which nothing is real unless something in `gate` is.

    So the two families together show something by chance no more often than the first alone.
    """
    known = gate[~np.isnan(gate)]
    opened: Floats = np.maximum(q, known.min() if len(known) else 1.0)
    return opened


def _of(side: SampleVariance, at: NDArray[np.int64]) -> SampleVariance:
    return SampleVariance(side.profiles, side.sums[at], side.squares[at], side.present[at])


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
    """Squares around the mean, and on how many values that rests: zeros tell nothing."""
    rest = side.squares - side.sums**2 / side.profiles
    return np.maximum(rest, _ROUNDING * side.squares), np.maximum(side.present - 1.0, 0)


def _error(
    side: SampleVariance, rest: Floats, free: Floats, common: Floats
) -> tuple[Floats, Floats]:
    """The square of the mean's standard error, and its degrees of freedom.

    A side that has seen a value twice in ten profiles does not know its variance: the less it
    has seen, the more it takes over from both sides together.
    """
    variance = (free * rest / (side.profiles - 1) + _BORROWED * common) / (free + _BORROWED)
    return variance / side.profiles, np.maximum(free, MIN_PROFILES - 1)


def _one_sided(side: SampleVariance, other: SampleVariance) -> Floats:
    """How likely shuffled profiles put all that are not zero on this side; twice that, [M].

    No p below it is believed: eight profiles against eight may differ by chance alone in one
    of 6,435 shuffles, whatever their values say.
    """
    steps = np.arange(min(side.profiles, _FAR), dtype=np.float64)
    all_of = side.profiles + other.profiles
    logs = np.cumsum(np.log((side.profiles - steps) / (all_of - steps)))
    likely = np.minimum(2 * np.exp(np.concatenate([[0.0], logs])), 1)
    found: Floats = likely[np.minimum(side.present + other.present, len(likely) - 1)]
    return found
