"""Checks of one candidate by itself: lasting, and not of the week's rhythm."""

from math import sqrt

import numpy as np

from detection.baseline import Baseline
from detection.findings import Check, CheckStage

_WEEK = 168
_MAX_WEEKS = 3
_MIN_LASTING = 0.5  # of the change, in the later half
_MIN_LASTING_SCORE = 2.0
_MIN_PAIRED = 0.4  # of the change, against the same hours of earlier weeks
_MIN_PAIRED_SCORE = 4.0


def check_lasting(baseline: Baseline, series: int, start: int) -> Check:
    """Compare the later half of the hours since the change with all of them."""
    middle = (start + baseline.end) // 2
    change = baseline.measure_changes(start).delta[series]
    late = baseline.measure_changes(middle)
    share = float(late.delta[series] / change) if change else 0.0
    score = float(late.scores[series] * np.sign(change))
    passed = share >= _MIN_LASTING and score >= _MIN_LASTING_SCORE
    return Check(CheckStage.WENT_AWAY, passed, {"remaining": share, "score": score})


def check_seasonality(baseline: Baseline, series: int, start: int) -> Check:
    """Compare the hours since the change with the same hours of up to three weeks before.

    Passes if no earlier week has profiles at these hours.
    """
    values, profiles = baseline.residuals[series], baseline.profiles
    hours = np.arange(start, baseline.end)
    after = profiles[hours]
    past, weight = np.zeros(len(hours)), np.zeros(len(hours))
    for week in range(1, _MAX_WEEKS + 1):
        earlier = hours - week * _WEEK
        if earlier[0] < 0:
            break
        past += values[earlier] * profiles[earlier]
        weight += profiles[earlier]
    paired = (after > 0) & (weight > 0)
    if not paired.any():
        return Check(CheckStage.SEASONALITY, True, {"weeks": 0.0})
    change = float(values[hours] @ after / after.sum())
    n = after[paired]
    before = float((past[paired] / weight[paired]) @ n / n.sum())
    difference = float(values[hours][paired] @ n / n.sum()) - before
    spread = 1 / n.sum() + float((n / n.sum()) ** 2 @ (1 / weight[paired]))
    noise = baseline.variances[series] * baseline.inflation[series]
    score = difference * np.sign(change) / max(sqrt(noise * spread), 1e-300)
    share = difference / change if change else 0.0
    passed = bool(share >= _MIN_PAIRED and score >= _MIN_PAIRED_SCORE)
    return Check(
        CheckStage.SEASONALITY, passed, {"same_hours": before, "remaining": share, "score": score}
    )
