"""Power of a comparison by the normal distribution."""

from statistics import NormalDist

from profiles.engine.stats.significance import REAL
from tests.profiles.engine.stats.simulated_profiles import Function

MARGIN = 1.5


def power(before: Function, after: Function, profiles: int, tested: int) -> float:
    """Return the probability that the difference is found among `tested` hypotheses.

    The variance of each side's mean is (mean + (mean × variation)²) / profiles.
    """
    normal = NormalDist()
    least = normal.inv_cdf(1 - REAL / MARGIN / tested / 2)
    variance = sum(side.mean + (side.mean * side.variation) ** 2 for side in (before, after))
    return normal.cdf(abs(after.mean - before.mean) / (variance / profiles) ** 0.5 - least)
