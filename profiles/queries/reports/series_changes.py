"""What changed between two stretches of time: each step's average is one observation.

Steps lie apart in time and are of other profiles: their number, not that of the profiles in them,
says how sure a difference is.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from profiles.engine.stats.significance import REAL, SampleVariance, differences, false_discoveries

Courses = Sequence[Sequence[float]]  # of each quantity, its value in each step


class SeriesChange(NamedTuple):
    difference: float  # of the means, after - before
    tested: bool  # False: too few steps to tell
    real: bool


def series_changes(before: Courses, after: Courses) -> list[SeriesChange]:
    """Of each quantity; the steps of a stretch are the same for all of them, and at least one."""
    a, b = _moments(after), _moments(before)
    q = false_discoveries(differences(a, b).p)
    found = a.sums / a.profiles - b.sums / b.profiles
    return [
        SeriesChange(value, tested=not np.isnan(rate), real=bool(rate <= REAL))
        for value, rate in zip(found.tolist(), q.tolist(), strict=True)
    ]


def _moments(courses: Courses) -> SampleVariance:
    values = np.array(courses, dtype=np.float64)
    return SampleVariance(
        profiles=values.shape[1],
        sums=values.sum(axis=1),
        squares=(values**2).sum(axis=1),
        present=np.count_nonzero(values, axis=1),
    )
