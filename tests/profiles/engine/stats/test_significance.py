"""Significance of differences: real changes are found, and false positives are rare."""

from itertools import pairwise

import numpy as np
import pytest

from profiles.engine.stats.significance import (
    REAL,
    SampleVariance,
    apply_gate,
    differences,
    false_discoveries,
)
from tests.profiles.engine.stats.simulated_profiles import (
    Function,
    Service,
    captured,
    sample_variance,
)
from tests.profiles.engine.stats.welch_theory import power

RUNS = 300
AT_MOST = 23  # of 300 runs, with 5 % expected: the binomial's 99 % quantile
COMMON = [Function(mean=mean, variation=0.1) for mean in np.geomspace(0.05, 200, 100)]


def shows_any(
    a: tuple[SampleVariance, SampleVariance], b: tuple[SampleVariance, SampleVariance]
) -> bool:
    (nodes_a, functions_a), (nodes_b, functions_b) = a, b
    functions = false_discoveries(differences(functions_a, functions_b).p)
    nodes = apply_gate(false_discoveries(differences(nodes_a, nodes_b).p), functions)
    return bool((np.concatenate([functions, nodes]) <= REAL).any())


@pytest.mark.slow
@pytest.mark.parametrize("sides", [(8, 8), (30, 30), (10, 80)])
@pytest.mark.parametrize("spread", [(0.2, 0.1, 0.05), (0.5, 0.7, 0.3)])
def test_samples_of_one_distribution_seldom_show_a_change(
    sides: tuple[int, int], spread: tuple[float, float, float]
) -> None:
    load, function, agent = spread
    service = Service(
        nodes=300, functions=120, load=load, function=function, agent=agent, samples=200
    )
    found = [shows_any(service.capture(sides[0]), service.capture(sides[1])) for _ in range(RUNS)]
    assert sum(found) <= AT_MOST


@pytest.mark.slow
@pytest.mark.parametrize("profiles", [240, 43_200])
def test_independent_functions_seldom_show_a_change(profiles: int) -> None:
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(RUNS):
        p = differences(captured(rng, COMMON, profiles), captured(rng, COMMON, profiles)).p
        found += bool((false_discoveries(p) <= REAL).any())
    assert found <= AT_MOST


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profiles", "change", "least"),
    [(240, 0.10, 0.95), (43_200, 0.01, 0.95), (240, 0.07, 0.0), (2_000, 0.02, 0.0)],
)
def test_planted_changes_are_found_as_often_as_theory_says(
    profiles: int, change: float, least: float
) -> None:
    """Check a function with 5 % of 1,000 samples beside a hundred unchanged ones."""
    rng = np.random.default_rng(3)
    before, after = Function(50, 0.1), Function(50 * (1 + change), 0.1)
    found = 0
    for _ in range(RUNS):
        a = captured(rng, [before, *COMMON], profiles)
        b = captured(rng, [after, *COMMON], profiles)
        found += bool(false_discoveries(differences(a, b).p)[0] <= REAL)
    assert found / RUNS == pytest.approx(power(before, after, profiles, len(COMMON) + 1), abs=0.08)
    assert found / RUNS >= least


def test_intervals_hold_the_true_difference_as_often_as_they_say() -> None:
    rng = np.random.default_rng(4)
    a, b = [Function(20, 0.1)] * 400, [Function(24, 0.3)] * 400
    found = differences(captured(rng, a, 40), captured(rng, b, 160))
    inside = (found.low <= -4) & (found.high >= -4)
    assert 0.91 <= inside.mean() <= 0.99


def test_swapping_the_sides_turns_the_difference_round() -> None:
    rng = np.random.default_rng(5)
    a, b = captured(rng, COMMON, 30), captured(rng, COMMON, 70)
    there, back = differences(a, b), differences(b, a)
    assert there.low == pytest.approx(-back.high, nan_ok=True)
    assert there.p == pytest.approx(back.p, nan_ok=True)


def test_equal_sides_have_p_1() -> None:
    same = captured(np.random.default_rng(6), COMMON, 50)
    found = differences(same, same)
    tested = ~np.isnan(found.p)
    assert tested.any()
    assert found.p[tested] == pytest.approx(1.0)


def side(profiles: int, value: float, present: int | None = None) -> SampleVariance:
    """Return one quantity: `value` in the first `present` profiles, 0 in the others."""
    row = np.zeros((1, profiles))
    row[0, : profiles if present is None else present] = value
    return sample_variance(row)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (side(7, 100), side(500, 0)),  # too few profiles on one side
        (side(100, 100, present=7), side(100, 0)),  # present in too few profiles
        (side(250, 100, present=10), side(250, 0)),  # one in 512 permutations gives the same
    ],
)
def test_functions_with_too_few_profiles_are_not_tested(
    a: SampleVariance, b: SampleVariance
) -> None:
    assert np.isnan(np.array(differences(a, b))).all()


def test_a_function_that_is_new_in_few_profiles_is_found() -> None:
    new = differences(side(5_000, 0), side(9, 1000))
    assert new.p[0] < 1e-4
    assert new.high[0] < 0


def test_function_in_few_of_many_profiles_is_not_significant_against_ten() -> None:
    assert differences(side(43_200, 5, present=100), side(10, 0)).p == pytest.approx([1.0])


def test_values_that_never_vary_differ_by_no_more_than_shuffling_shows() -> None:
    found = differences(side(8, 1000), side(8, 2000))
    assert found.p == pytest.approx([2 / 12_870])
    assert (found.low[0], found.high[0]) == pytest.approx((-1000, -1000), rel=1e-3)


def test_rounding_is_no_difference() -> None:
    large = 2.0**53 + 2
    assert differences(side(240, large), side(250, large)).p == pytest.approx([1.0])


def test_q_is_benjamini_hochbergs_with_a_margin() -> None:
    q = false_discoveries(np.array([0.2, np.nan, 0.001, 0.012, 0.9]))
    assert q == pytest.approx([0.4, np.nan, 0.006, 0.036, 1.0], nan_ok=True)
    assert len(false_discoveries(np.array([]))) == 0
    ordered = false_discoveries(np.sort(np.random.default_rng(7).random(50)))
    assert all(low <= high for low, high in pairwise(ordered.tolist()))


def test_gate_limits_q_of_nodes_to_that_of_their_family() -> None:
    nodes = np.array([0.001, np.nan, 0.3])
    assert apply_gate(nodes, np.array([0.04, 0.9])) == pytest.approx(
        [0.04, np.nan, 0.3], nan_ok=True
    )
    assert apply_gate(nodes, np.array([np.nan])) == pytest.approx([1, np.nan, 1], nan_ok=True)
