"""Version that a change came with."""

from typing import NamedTuple

import numpy as np

from detection.baseline import Baseline
from detection.series import ServiceSeries

_BEFORE_HOURS = 24  # a roll-out begins at most this long before the change point
_MAX_DELAY_HOURS = 6  # the change point is at most this long before the roll-out, by chance
_MIN_SHARE = 0.3  # of the profiles after the change


class Attribution(NamedTuple):
    version: str | None
    before: str | None


def attribute_version(
    series: ServiceSeries, baseline: Baseline, index: int, start: int
) -> Attribution:
    """Return the version whose share of the profiles the series follows best.

    Roll-outs are gradual: two versions run at once, and the cost rises with the share of the new
    one. A version is considered if its first profile is near the change point.
    """
    window = slice(max(0, start - 72), baseline.end)
    profiles = series.profiles[window]
    shares = series.version_profiles[:, window] / np.maximum(profiles, 1)
    values, weights = baseline.residuals[index, window], profiles
    best, smallest = -1, float("inf")
    for version in range(len(series.versions)):
        seen = np.flatnonzero(series.version_profiles[version, : baseline.end])
        if not len(seen) or not start - _BEFORE_HOURS <= seen[0] <= start + _MAX_DELAY_HOURS:
            continue
        share = shares[version]
        if share[start - window.start :].max(initial=0) < _MIN_SHARE:
            continue
        design = np.sqrt(weights) * np.array([np.ones(len(share)), share])
        fit = np.linalg.lstsq(design.T, np.sqrt(weights) * values, rcond=None)[0]
        rest = float(((fit[0] + fit[1] * share - values) ** 2) @ weights)
        if rest < smallest:
            best, smallest = version, rest
    first = int(np.flatnonzero(series.version_profiles[best])[0]) if best >= 0 else start
    past = series.version_profiles[:, max(0, first - _BEFORE_HOURS) : first].sum(axis=1)
    before = series.versions[int(np.argmax(past))] if past.any() else None
    return Attribution(series.versions[best] if best >= 0 else None, before)
