"""Costs that moved: between functions of a caller, a file, a class or a package."""

import numpy as np
from numpy.typing import NDArray

from detection.baseline import Baseline, SeriesChanges
from detection.findings import Check, CheckStage
from detection.series import ServiceSeries

_MIN_SCORE = 4.0  # of a counterpart, in standard errors
_MIN_COVERAGE = 0.6  # of the change, by changes in the other direction
_MAX_DOMAIN = 0.5  # of the service; a larger domain always has something that changed

Mask = NDArray[np.bool_]


def check_cost_shift(
    series: ServiceSeries, baseline: Baseline, changes: SeriesChanges, function: int, is_self: bool
) -> Check:
    """Look for opposite changes of self values near a function whose cost changed.

    The domains are the direct callees of its main caller, these with all below them, its file, its
    class and its package. The check
    fails if in one of them significant changes in the other direction are at least 60 % of it.
    """
    count = len(series.functions)
    delta = float(changes.delta[function if is_self else count + function])
    inside = np.arange(count) == function if is_self else series.ancestors[:, function]
    own, scores = changes.delta[:count], changes.scores[:count]
    opposite = (np.sign(own) == -np.sign(delta)) & (np.abs(scores) >= _MIN_SCORE) & ~inside
    best, moved = 0.0, np.zeros(count, dtype=bool)
    for domain in _domains(series, baseline, function):
        found = opposite & domain
        coverage = float(-own[found].sum() / delta) if delta else 0.0
        if coverage > best:
            best, moved = coverage, found
    names = tuple(series.functions[each].name for each in np.flatnonzero(moved))
    return Check(CheckStage.COST_SHIFT, best < _MIN_COVERAGE, {"moved": best}, names)


def _domains(series: ServiceSeries, baseline: Baseline, function: int) -> list[Mask]:
    symbol = series.functions[function]
    domains = []
    if series.parent[function] >= 0:
        domains.append(series.ancestors[:, series.parent[function]])
    for index in (1, 2, 3):
        if symbol[index]:
            domains.append(np.array([each[index] == symbol[index] for each in series.functions]))
    own = baseline.means[: len(series.functions)]
    small = [domain for domain in domains if own[domain].sum() <= _MAX_DOMAIN * own.sum()]
    return [*small, series.parent == series.parent[function]]
