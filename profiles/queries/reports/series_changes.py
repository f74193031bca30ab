"""Significance of changes between two time ranges, with each step's average as an observation.

Steps are separate in time and contain different profiles, so the number of steps, not of
profiles, determines the confidence in a difference.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from profiles.engine.stats.significance import REAL, SampleVariance, differences, false_discoveries

Courses = Sequence[Sequence[float]]  # for each quantity its value in each step


class SeriesChange(NamedTuple):
    difference: float  # difference of means, after - before
    tested: bool  # False: too few steps for a test
    real: bool  # significant: the false discovery rate is at most REAL


def series_changes(before: Courses, after: Courses) -> list[SeriesChange]:
    """Test the change of each quantity from one time range to another.

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
