"""Detection in simulated services with known changes."""

import numpy as np

from detection.analysis import detect_changes
from detection.findings import Detection
from detection.power import max_p
from detection.series import FunctionSymbol, ServiceSeries

FUNCTIONS, HOURS, CHANGED = 100, 480, 50
START = HOURS - 36


def detect(change: float) -> Detection:
    rng = np.random.default_rng(1)
    callers = [-1, *(int(rng.integers(0, each)) for each in range(1, FUNCTIONS))]
    profiles = np.full(HOURS, 60.0)
    rate = np.outer(np.full(FUNCTIONS, 20.0), 1 + 0.4 * np.sin(np.arange(HOURS) * np.pi / 12))
    rate[CHANGED, START:] *= 1 + change
    sums = rng.poisson(rate * profiles).astype(np.float64)
    squares = sums**2 / profiles + (profiles - 1) * rate
    below = np.eye(FUNCTIONS)
    for function in range(FUNCTIONS - 1, 0, -1):
        below[callers[function]] += below[function]
    symbols = tuple(FunctionSymbol(f"f{each}") for each in range(FUNCTIONS))
    is_old = np.arange(HOURS) < START
    versions = np.array([profiles * is_old, profiles * ~is_old])
    trees = (sums, squares, below @ sums, below @ squares)
    totals = sums.sum(axis=0)
    names = ("1", "2")
    parent = np.array(callers)
    series = ServiceSeries(
        "shop", "cpu", 0, symbols, parent, profiles, totals, *trees, names, versions
    )
    return detect_changes(series, HOURS, max_p(30_000, 2, 0.25))


def test_planted_rise_is_found_with_function_and_version() -> None:
    (finding,) = detect(0.05).findings
    assert (finding.candidate.name, finding.version, finding.version_before) == ("f50", "2", "1")
    assert abs(finding.change_hour - START) <= 3
    assert finding.low < 0.05 * 20 < finding.high


def test_unchanged_service_has_no_finding() -> None:
    assert detect(0).findings == ()
