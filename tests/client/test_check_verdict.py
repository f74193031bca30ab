"""Judgement of comparisons, with documents of simulated profiles and the server's statistics."""

from typing import Any

import numpy as np
import pytest

from flamewatch_client.check_verdict import (
    ChangeKind,
    CheckLimits,
    CheckOutcome,
    CheckVerdict,
    judge_comparison,
)
from flamewatch_client.errors import RequestFailed
from tests.client.check_documents import Floats, build_document

FUNCTIONS = 20
MS = 1e6  # in ns
RUNS = 400


def simulate_side(
    rng: np.random.Generator, profiles: int = 12, noise: float = 0.05, **factors: float
) -> Floats:
    """Return self values [profiles, FUNCTIONS] of 100 ms, by factors of functions like f3=1.3."""
    means = np.full(FUNCTIONS, 100 * MS)
    for name, factor in factors.items():
        means[int(name[1:])] *= factor
    values: Floats = means * (1 + noise * rng.standard_normal((profiles, FUNCTIONS)))
    return values


def judge_sides(base: Floats, head: Floats, **limits: Any) -> CheckVerdict:
    return judge_comparison(build_document(base, head), CheckLimits(**limits))


def list_names(verdict: CheckVerdict, kind: ChangeKind) -> list[str]:
    return [cost.name for cost in verdict.list_costs(kind)]


def test_equal_profiles_have_no_change() -> None:
    side = simulate_side(np.random.default_rng(1))
    verdict = judge_sides(side, side)
    assert verdict.outcome is CheckOutcome.NO_REGRESSION
    assert (verdict.changes, verdict.judged, verdict.untested) == ((), FUNCTIONS, 0)


def test_slower_function_is_a_regression() -> None:
    rng = np.random.default_rng(2)
    verdict = judge_sides(simulate_side(rng), simulate_side(rng, f3=1.3))
    assert verdict.outcome is CheckOutcome.REGRESSION
    (cost,) = verdict.regressions
    assert cost.name == "f3"
    assert cost.to_percent(cost.difference) == pytest.approx(30, abs=5)
    assert verdict.total_kind is None


def test_slower_function_within_the_threshold_passes() -> None:
    rng = np.random.default_rng(3)
    base, head = simulate_side(rng, noise=0.01), simulate_side(rng, noise=0.01, f3=1.08)
    assert judge_sides(base, head).outcome is CheckOutcome.NO_REGRESSION
    assert judge_sides(base, head, threshold=3.0).outcome is CheckOutcome.REGRESSION


def test_interval_that_includes_the_threshold_passes_and_is_undecided() -> None:
    rng = np.random.default_rng(4)
    verdict = judge_sides(simulate_side(rng, noise=0.3), simulate_side(rng, noise=0.3, f3=1.25))
    assert verdict.outcome is CheckOutcome.NO_REGRESSION
    assert verdict.undecided > 0


def test_faster_function_is_an_improvement() -> None:
    rng = np.random.default_rng(5)
    verdict = judge_sides(simulate_side(rng), simulate_side(rng, f3=0.7))
    assert verdict.outcome is CheckOutcome.NO_REGRESSION
    assert list_names(verdict, ChangeKind.IMPROVEMENT) == ["f3"]


def test_slower_total_is_a_regression_though_no_function_is() -> None:
    rng = np.random.default_rng(6)
    head = 1.09 * simulate_side(rng)
    verdict = judge_sides(simulate_side(rng), head, total_threshold=5.0)
    assert (verdict.outcome, verdict.regressions) == (CheckOutcome.REGRESSION, [])
    assert verdict.total_kind is ChangeKind.REGRESSION


def test_added_function_fails_on_demand() -> None:
    rng = np.random.default_rng(7)
    base, head = simulate_side(rng, f3=0), simulate_side(rng)
    verdict = judge_sides(base, head)
    assert verdict.outcome is CheckOutcome.NO_REGRESSION
    (cost,) = verdict.list_costs(ChangeKind.ADDED)
    assert (cost.name, cost.to_percent(cost.difference)) == ("f3", None)
    verdict = judge_sides(base, head, fails_added=True)
    assert verdict.outcome is CheckOutcome.REGRESSION
    assert [cost.name for cost in verdict.regressions] == ["f3"]


def test_removed_function_passes() -> None:
    rng = np.random.default_rng(8)
    verdict = judge_sides(simulate_side(rng), simulate_side(rng, f3=0), fails_added=True)
    assert verdict.outcome is CheckOutcome.NO_REGRESSION
    assert list_names(verdict, ChangeKind.REMOVED) == ["f3"]


def test_small_function_is_not_judged() -> None:
    rng = np.random.default_rng(9)
    base, head = simulate_side(rng, f3=0.1), simulate_side(rng, f3=0.13)
    assert judge_sides(base, head, min_share=1.0).outcome is CheckOutcome.NO_REGRESSION
    assert judge_sides(base, head, min_share=0.1).outcome is CheckOutcome.REGRESSION


def test_function_of_few_profiles_is_untested() -> None:
    rng = np.random.default_rng(10)
    base, head = simulate_side(rng), simulate_side(rng)
    base[:, 3], head[2:, 3] = 0, 0
    head[:2, 3] *= 10
    verdict = judge_sides(base, head)
    assert (verdict.judged, verdict.untested) == (FUNCTIONS - 1, 1)


@pytest.mark.parametrize(("base", "head", "least"), [(7, 40, 8), (40, 0, 8), (12, 12, 20)])
def test_too_few_profiles_of_a_side_are_counted(base: int, head: int, least: int) -> None:
    rng = np.random.default_rng(11)
    sides = simulate_side(rng, base), simulate_side(rng, head, f3=3)
    verdict = judge_sides(*sides, min_profiles=least)
    assert verdict.outcome is CheckOutcome.TOO_FEW_PROFILES
    assert (verdict.base_profiles, verdict.head_profiles) == (base, head)
    assert verdict.needed_profiles == least


def test_fewer_profiles_than_the_server_tests_cannot_be_allowed() -> None:
    rng = np.random.default_rng(12)
    verdict = judge_sides(simulate_side(rng, 5), simulate_side(rng, 5), min_profiles=1)
    assert (verdict.outcome, verdict.needed_profiles) == (CheckOutcome.TOO_FEW_PROFILES, 8)


def test_comparison_without_intervals_is_a_failure() -> None:
    side = simulate_side(np.random.default_rng(13))
    document = build_document(side, side)
    document["why_no_intervals"] = "No intervals: samples selected by their labels are not tested."
    with pytest.raises(RequestFailed, match="samples selected by their labels"):
        judge_comparison(document, CheckLimits())


def test_values_of_totals_are_judged_on_demand() -> None:
    rng = np.random.default_rng(14)
    document = build_document(simulate_side(rng), simulate_side(rng, f3=1.3))
    columns = document["functions"]
    for name in ("a_total", "b_total", "low", "high", "p"):
        columns[name] = columns[name][::-1]
    verdict = judge_comparison(document, CheckLimits(value="total"))
    assert list_names(verdict, ChangeKind.REGRESSION) == [f"f{FUNCTIONS - 1 - 3}"]


def measure_failures(factor: float, threshold: float, profiles: int) -> float:
    """Return the part of checks that fail when every function has this factor.

    Costs are samples of a CPU profile, 100 a second for 10 s, with 10 % variation of each function.
    """
    rng = np.random.default_rng(15)
    shares = rng.uniform(0.5, 3, FUNCTIONS)
    samples = 1_000 * shares / shares.sum()

    def draw(factor: float) -> Floats:
        load = 1 + 0.1 * rng.standard_normal((profiles, FUNCTIONS))
        counts: Floats = rng.poisson(samples * np.maximum(load, 0) * factor) * 10 * MS
        return counts

    limits = {"threshold": threshold, "total_threshold": threshold}
    failed = sum(
        judge_sides(draw(1), draw(factor), **limits).outcome is CheckOutcome.REGRESSION
        for _ in range(RUNS)
    )
    return failed / RUNS


@pytest.mark.parametrize(
    ("factor", "threshold", "profiles"),
    [(1.0, 0.0, 8), (1.0, 0.0, 12), (1.0, 10.0, 12), (1.1, 10.0, 12), (1.1, 10.0, 40)],
)
def test_at_most_five_percent_of_checks_fail_by_chance(
    factor: float, threshold: float, profiles: int
) -> None:
    """The worst case is that every function is slower by exactly the threshold."""
    assert measure_failures(factor, threshold, profiles) <= 0.05


def test_increase_of_25_percent_is_found_with_12_profiles() -> None:
    rng = np.random.default_rng(17)
    verdicts = [judge_sides(simulate_side(rng), simulate_side(rng, f3=1.25)) for _ in range(RUNS)]
    exact = [[cost.name for cost in verdict.regressions] == ["f3"] for verdict in verdicts]
    assert sum(exact) / RUNS >= 0.95


def test_without_the_correction_checks_of_many_functions_would_fail_by_chance() -> None:
    rng = np.random.default_rng(16)
    documents = (build_document(simulate_side(rng), simulate_side(rng)) for _ in range(RUNS))
    failed = sum(any(low > 0 for low in each["functions"]["self_low"]) for each in documents)
    assert failed / RUNS > 0.2
