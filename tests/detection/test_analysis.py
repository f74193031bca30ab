"""Detection in simulated services with known changes."""

from collections.abc import Callable

import numpy as np
import pytest

from detection.analysis import detect_changes
from detection.baseline import WINDOW_HOURS, Baseline
from detection.checks import check_seasonality
from detection.findings import CheckStage, Detection
from detection.power import max_p, smallest_detectable_change, two_sided_p
from detection.series import Floats, FunctionSymbol, ServiceSeries

FUNCTIONS, HOURS, CHANGED, SIBLING = 100, 480, 50, 51
START = HOURS - 36
SAMPLES = 20.0  # of each function in a profile
DAILY = 1 + 0.4 * np.sin(np.arange(HOURS) * np.pi / 12)

Plan = Callable[[Floats], None]


def simulate(plan: Plan) -> ServiceSeries:
    """Return a service whose samples per profile, [F, H], `plan` changes; version 2 is at START."""
    rng = np.random.default_rng(1)
    callers = [-1, *(int(rng.integers(0, each)) for each in range(1, FUNCTIONS))]
    callers[SIBLING] = callers[CHANGED]
    profiles = np.full(HOURS, 60.0)
    rate = np.outer(np.full(FUNCTIONS, SAMPLES), DAILY)
    plan(rate)
    sums = rng.poisson(rate * profiles).astype(np.float64)
    squares = sums**2 / profiles + sums
    below = np.eye(FUNCTIONS)
    for function in range(FUNCTIONS - 1, 0, -1):
        below[callers[function]] += below[function]
    symbols = tuple(FunctionSymbol(f"f{each}", f"{each // 10}.py") for each in range(FUNCTIONS))
    is_old = np.arange(HOURS) < START
    versions = np.array([profiles * is_old, profiles * ~is_old])
    trees = (sums, squares, below @ sums, below @ squares)
    totals = sums.sum(axis=0)
    names = ("1", "2")
    parent = np.array(callers)
    return ServiceSeries(
        "shop", "cpu", 0, symbols, parent, profiles, totals, *trees, names, versions
    )


def detect(plan: Plan) -> Detection:
    return detect_changes(simulate(plan), HOURS, max_p(30_000, 2, 0.25))


def drop_stages(detection: Detection, function: int) -> set[CheckStage | None]:
    return {each.dropped for each in detection.dropped if each.function == function}


@pytest.mark.parametrize("change", [0.08, -0.08])
def test_planted_change_is_found_with_function_version_and_size(change: float) -> None:
    def plan(rate: Floats) -> None:
        rate[CHANGED, START:] *= 1 + change

    (finding,) = detect(plan).findings
    assert (finding.candidate.name, finding.version, finding.version_before) == ("f50", "2", "1")
    assert abs(finding.change_hour - START) <= 6
    assert finding.low < change * SAMPLES * DAILY[-24:].mean() < finding.high


def test_unchanged_service_has_no_finding() -> None:
    assert detect(lambda rate: None).findings == ()


def test_new_function_that_costs_more_is_found() -> None:
    def plan(rate: Floats) -> None:
        rate[CHANGED, :START] = 0

    (finding,) = detect(plan).findings
    assert finding.candidate.name == "f50"


def test_more_traffic_is_no_finding() -> None:
    def plan(rate: Floats) -> None:
        rate[:, START:] *= 2

    assert detect(plan).findings == ()


def test_cost_that_moved_to_a_sibling_is_ruled_out_as_a_shift() -> None:
    def plan(rate: Floats) -> None:
        rate[SIBLING, START:] += 0.3 * rate[CHANGED, START:]
        rate[CHANGED, START:] *= 0.7

    detection = detect(plan)
    assert detection.findings == ()
    assert CheckStage.COST_SHIFT in drop_stages(detection, CHANGED)
    assert CheckStage.COST_SHIFT in drop_stages(detection, SIBLING)


def test_rename_is_ruled_out_as_a_shift() -> None:
    def plan(rate: Floats) -> None:
        rate[SIBLING, :START] = 0
        rate[CHANGED, START:] = 0

    detection = detect(plan)
    assert detection.findings == ()
    assert CheckStage.COST_SHIFT in drop_stages(detection, CHANGED)
    (shift,) = (
        check
        for each in detection.dropped
        if each.function == CHANGED and each.is_self
        for check in each.checks
        if check.stage is CheckStage.COST_SHIFT
    )
    assert shift.functions == ("f51",)


def test_change_that_went_away_is_no_finding() -> None:
    def plan(rate: Floats) -> None:
        rate[CHANGED, START : START + 15] *= 1.3

    detection = detect(plan)
    assert detection.findings == ()
    assert CheckStage.WENT_AWAY in drop_stages(detection, CHANGED)


def test_change_that_comes_every_week_is_no_finding() -> None:
    def plan(rate: Floats) -> None:
        rate[CHANGED] *= 10
        for week in range(3):
            end = HOURS - 168 * week
            rate[CHANGED, end - 36 : end] *= 1.3

    assert detect(plan).findings == ()


@pytest.mark.parametrize(("weeks", "is_lasting"), [(3, False), (1, True)])
def test_hours_are_compared_with_those_of_earlier_weeks(weeks: int, is_lasting: bool) -> None:
    residuals = np.random.default_rng(1).normal(0, 0.1, (2, HOURS))
    for week in range(weeks):
        end = HOURS - 168 * week
        residuals[0, end - 36 : end] += 1
    ones = np.ones(2)
    profiles = np.full(HOURS, 60.0)
    baseline = Baseline(residuals, ones, ones, ones, profiles, HOURS, ones)
    check = check_seasonality(baseline, 0, START)
    assert check.passed == is_lasting
    assert check.evidence["same_hours"] == pytest.approx(float(weeks > 1), abs=0.1)


def test_change_below_two_percent_is_too_small() -> None:
    def plan(rate: Floats) -> None:
        rate[CHANGED] *= 100
        rate[CHANGED, START:] *= 1.012

    detection = detect(plan)
    assert detection.findings == ()
    assert CheckStage.SIZE in drop_stages(detection, CHANGED)


def test_change_is_reported_after_a_day_and_not_after_two() -> None:
    def plan(rate: Floats) -> None:
        rate[CHANGED, START - 24 :] *= 1.1

    series, limit = simulate(plan), max_p(30_000, 2, 0.25)
    found = {
        end - START + 24
        for end in range(START - 12, HOURS + 1, 6)
        if detect_changes(series, end, limit).findings
    }
    assert found
    assert min(found) >= 24
    assert max(found) <= 51


def test_service_with_a_short_history_is_not_analyzed() -> None:
    series = simulate(lambda rate: None)
    assert not detect_changes(series, WINDOW_HOURS - 1, 0.01).is_analyzed
    series.profiles[:320] = 0
    assert not detect_changes(series, HOURS, 0.01).is_analyzed


@pytest.mark.parametrize(("score", "p"), [(2.045, 0.05), (2.756, 0.01), (3.659, 0.001)])
def test_p_is_that_of_students_table_with_29_degrees_of_freedom(score: float, p: float) -> None:
    assert two_sided_p(score) == pytest.approx(p, rel=0.02)
    assert two_sided_p(-score) == two_sided_p(score)


def test_smallest_detectable_change_is_found_in_four_of_five_cases() -> None:
    mean, variance, profiles, p = 20.0, 20.0, 1440.0, 1e-6
    change = smallest_detectable_change(mean, variance, profiles, p)
    error = np.sqrt(variance * 1.1 / profiles)
    rng = np.random.default_rng(1)
    scores = rng.normal(change * mean / error, 1, 2_000)
    found = np.mean([two_sided_p(float(score)) < p for score in scores])
    assert 0.77 < found < 0.83
    assert smallest_detectable_change(0, 0, profiles, p) == float("inf")
