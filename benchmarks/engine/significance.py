"""Measure the error rate and the power of comparisons, with 2,000 simulated ones of each kind.

This is not about speed: the figures are shares of runs, beside the documented bounds and the
theoretical values. For few profiles, whole call trees are simulated capture by capture; for 43,200
a side each function's Σ and Σ² are drawn exactly from the number of profiles with each value
(tests/profiles/engine/stats/simulated_profiles.py).
"""

import sys
from math import sqrt

import numpy as np

from benchmarks.tools.table import Figure, show
from profiles.engine.stats.significance import (
    REAL,
    SampleVariance,
    apply_gate,
    differences,
    false_discoveries,
)
from tests.profiles.engine.stats.simulated_profiles import Function, Service, captured
from tests.profiles.engine.stats.welch_theory import power

RUNS = 2000
OTHERS = [Function(mean=mean, variation=0.1) for mean in np.geomspace(0.05, 200, 300)]
SHARE = 50  # samples: 5 % of the 1,000 that one busy core gives in 10 s at 100 Hz

WORLDS = {
    "steady": Service(seed=1, load=0.2, function=0.1, agent=0.05),
    "bursty": Service(seed=2, load=0.5, function=0.7, agent=0.3),
}
SIDES = [(8, 8), (30, 30), (12, 240), (240, 240)]
# (profiles a side, relative change, variation between profiles)
PLANTED = [
    (240, 0.10, 0.10),
    (43_200, 0.01, 0.10),
    (240, 0.05, 0.10),
    (240, 0.10, 0.20),
    (1_000, 0.05, 0.10),
    (1_000, 0.10, 0.30),
    (10_000, 0.02, 0.10),
    (43_200, 0.01, 0.20),
    (43_200, 0.01, 0.30),
]


def bound(found: int) -> float:
    """Return the one-sided 99 % upper bound of a share, in %, by Wilson's score interval."""
    z, n = 2.326, RUNS
    share = found / n
    middle = share + z * z / (2 * n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return 100 * (middle + half) / (1 + z * z / n)


def shows_any(
    nodes: tuple[SampleVariance, SampleVariance], functions: tuple[SampleVariance, SampleVariance]
) -> bool:
    gate = false_discoveries(differences(*functions).p)
    q = apply_gate(false_discoveries(differences(*nodes).p), gate)
    return bool((np.concatenate([gate, q]) <= REAL).any())


def of_trees(world: Service, sides: tuple[int, int]) -> int:
    found = 0
    for _ in range(RUNS):
        (nodes_a, functions_a), (nodes_b, functions_b) = map(world.capture, sides)
        found += shows_any((nodes_a, nodes_b), (functions_a, functions_b))
    return found


def of_functions(profiles: int) -> int:
    rng, found = np.random.default_rng(1), 0
    for _ in range(RUNS):
        sides = captured(rng, OTHERS, profiles), captured(rng, OTHERS, profiles)
        found += bool((false_discoveries(differences(*sides).p) <= REAL).any())
    return found


def nothing_changed() -> list[Figure]:
    counts = {
        f"{name}, whole trees, {a} against {b}": of_trees(world, (a, b))
        for name, world in WORLDS.items()
        for a, b in SIDES
    }
    counts |= {f"300 functions, {n:,} a side": of_functions(n) for n in (240, 43_200)}
    return [
        Figure(what, bound(found), "%", 5, f"{found} of {RUNS:,} runs")
        for what, found in counts.items()
    ]


def found(profiles: int, change: float, variation: float) -> Figure:
    rng, hits = np.random.default_rng(2), 0
    before, after = (Function(SHARE * (1 + by), variation) for by in (0.0, change))
    for _ in range(RUNS):
        a = captured(rng, [before, *OTHERS], profiles)
        b = captured(rng, [after, *OTHERS], profiles)
        hits += bool(false_discoveries(differences(a, b).p)[0] <= REAL)
    theory = 100 * power(before, after, profiles, 1 + len(OTHERS))
    what = f"{change:.0%} of 5 %, {profiles:,} a side, varying by {variation:.0%}"
    return Figure(what, 100 * hits / RUNS, "%", None, f"theory {theory:.1f} %")


def main() -> int:
    within_limits = show(
        "Runs that show any change where there is none: 99 % bound", nothing_changed()
    )
    figures = [found(*planted) for planted in PLANTED]
    show("Planted changes that are found; the first two are promised in 95 %", figures)
    return 0 if within_limits and all(figure.value >= 95 for figure in figures[:2]) else 1


if __name__ == "__main__":
    sys.exit(main())
