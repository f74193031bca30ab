"""Verdicts of each kind of condition over points that are written by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from alerts.conditions.against_last_week import WEEK, WeekCondition
from alerts.conditions.finding import FindingCondition
from alerts.conditions.observation import InvalidParameters, Observation
from alerts.conditions.points import Measure, StepSums
from alerts.conditions.quota import QuotaCondition
from alerts.conditions.registry import ConditionKind, list_parameters, parse_condition
from alerts.conditions.stopped_reporting import StoppedReportingCondition
from alerts.conditions.value import ValueCondition

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SECOND = 1e9  # in ns


def points(values: Sequence[float | None], start: datetime = START) -> list[StepSums]:
    """Return a point a minute, each of one profile of 10 s with the total 10 s; None: without."""
    return [
        StepSums(start + number * MINUTE, 1, value, 10 * SECOND, 10 * SECOND)
        if value is not None
        else StepSums(start + number * MINUTE, 0, 0, 0, 0)
        for number, value in enumerate(values)
    ]


def verdicts(observations: Sequence[Observation]) -> list[bool | None]:
    return [each.is_true for each in observations]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [(Measure.SHARE, 20), (Measure.CORES, 0.2), (Measure.PER_PROFILE, 2 * SECOND)],
)
def test_value_is_measured_in_its_unit(measure: Measure, expected: float) -> None:
    condition = ValueCondition(measure, True, expected - 0.1, 5)
    (observation,) = condition.observe(points([2 * SECOND]))
    assert observation.value == pytest.approx(expected)
    assert (observation.time, observation.is_true) == (START, True)


def test_value_is_the_average_of_five_minutes() -> None:
    condition = ValueCondition(Measure.CORES, True, 0.3, 1)
    observed = condition.observe(points([SECOND] * 5 + [6 * SECOND] * 2 + [SECOND] * 4))
    assert [round(each.value or 0, 2) for each in observed] == [
        *(0.1, 0.1, 0.1, 0.1, 0.1),
        *(0.2, 0.3, 0.3, 0.3, 0.3, 0.2),
    ]
    assert verdicts(observed) == [False] * 11


def test_threshold_itself_is_neither_above_nor_below() -> None:
    for is_above in (True, False):
        condition = ValueCondition(Measure.PER_PROFILE, is_above, 5, 1)
        assert verdicts(condition.observe(points([5]))) == [False]
        assert verdicts(condition.observe(points([6]))) == [is_above]
        assert verdicts(condition.observe(points([4]))) == [not is_above]


def test_missing_profile_leaves_the_average_and_a_gap_has_no_verdict() -> None:
    condition = ValueCondition(Measure.CORES, True, 0.3, 1)
    observed = condition.observe(points([4 * SECOND, None, 4 * SECOND, *[None] * 5]))
    assert verdicts(observed) == [True] * 7 + [None]
    assert observed[-1].value is None


def test_measure_without_duration_or_total_has_no_verdict() -> None:
    point = StepSums(START, 1, 0, 0, 0)
    for measure in (Measure.SHARE, Measure.CORES):
        assert verdicts(ValueCondition(measure, True, 1, 1).observe([point])) == [None]


def test_week_condition_compares_with_the_same_minutes_of_the_week_before() -> None:
    condition = WeekCondition(Measure.CORES, True, 20, 60)
    earlier = points([SECOND, 2 * SECOND, None, None], START - WEEK)
    observed = condition.observe(
        points([1.1 * SECOND, 3 * SECOND, 3 * SECOND, SECOND]), earlier, window=MINUTE
    )
    assert verdicts(observed) == [False, True, None, None]
    assert observed[1].value == pytest.approx(50)
    assert observed[0].value == pytest.approx(10)


def test_week_condition_below() -> None:
    condition = WeekCondition(Measure.CORES, False, 20, 60)
    earlier = points([SECOND] * 3, START - WEEK)
    observed = condition.observe(
        points([0.7 * SECOND, 0.9 * SECOND, 1.5 * SECOND]), earlier, window=MINUTE
    )
    assert verdicts(observed) == [True, False, False]


def test_week_condition_has_no_ratio_to_zero() -> None:
    observed = WeekCondition(Measure.CORES, True, 20, 60).observe(
        points([SECOND]), points([0], START - WEEK)
    )
    assert verdicts(observed) == [None]


def test_service_stopped_reporting_after_its_minutes() -> None:
    condition = StoppedReportingCondition(10)
    early = START - timedelta(days=1)
    assert condition.observe(START + 9 * MINUTE, START, early).is_true is False
    late = condition.observe(START + 10 * MINUTE, START, early)
    assert late == Observation(START + 10 * MINUTE, 10, True)


def test_time_in_which_the_server_was_down_does_not_count() -> None:
    condition = StoppedReportingCondition(10)
    up = START + timedelta(hours=2)
    assert condition.observe(up + 9 * MINUTE, START, up).is_true is False
    assert condition.observe(up + 10 * MINUTE, START, up).is_true is True


def test_stopped_reporting_over_steps() -> None:
    observed = StoppedReportingCondition(5).observe_points(
        points([None, SECOND, *[None] * 5, SECOND]), MINUTE
    )
    assert verdicts(observed) == [None, *[False] * 5, True, False]


def test_quota_in_percent_of_the_allowed_amount() -> None:
    condition = QuotaCondition("", 80)
    assert condition.observe(START, 79, 100) == Observation(START, 79, False)
    assert condition.observe(START, 80, 100) == Observation(START, 80, True)
    assert condition.observe(START, 0, 0) == Observation(START, 0, False)
    assert condition.observe(START, 1, 0) == Observation(START, 100, True)
    assert len(condition.quotas) == 3
    assert QuotaCondition("stored_bytes", 80).quotas == ("stored_bytes",)


def test_finding_counts_while_it_is_open_and_large_enough() -> None:
    condition = FindingCondition(20)
    assert condition.observe(START, 0.2, is_open=True).is_true is True
    assert condition.observe(START, 0.19, is_open=True).is_true is False
    assert condition.observe(START, 0.5, is_open=False).is_true is False
    assert condition.observe(START, None, is_open=True).is_true is True


GOOD: dict[ConditionKind, dict[str, object]] = {
    ConditionKind.VALUE: {"measure": "share", "is_above": True, "threshold": 13.5, "minutes": 30},
    ConditionKind.AGAINST_LAST_WEEK: {
        "measure": "cores",
        "is_above": True,
        "percent": 20.0,
        "minutes": 60,
    },
    ConditionKind.STOPPED_REPORTING: {"minutes": 120},
    ConditionKind.QUOTA: {"quota": "stored_bytes", "percent": 80.0},
    ConditionKind.FINDING: {"percent": 10.0},
}


@pytest.mark.parametrize("kind", ConditionKind)
def test_parameters_are_read_and_stored_again(kind: ConditionKind) -> None:
    assert list_parameters(parse_condition(kind, GOOD[kind])) == GOOD[kind]


@pytest.mark.parametrize(
    ("kind", "change", "parameter"),
    [
        ("value", {"measure": "joules"}, "measure"),
        ("value", {"threshold": 101}, "threshold"),
        ("value", {"threshold": float("nan")}, "threshold"),
        ("value", {"threshold": True}, "threshold"),
        ("value", {"is_above": "yes"}, "is_above"),
        ("value", {"minutes": 0}, "minutes"),
        ("value", {"minutes": 1.5}, "minutes"),
        ("value", {"minutes": 1441}, "minutes"),
        ("value", {"other": 1}, "other"),
        ("against_last_week", {"percent": None}, "percent"),
        ("against_last_week", {"is_above": False, "percent": 100}, "percent"),
        ("stopped_reporting", {"minutes": 4}, "minutes"),
        ("quota", {"quota": "retention_days"}, "quota"),
        ("quota", {"percent": 101}, "percent"),
        ("finding", {"percent": 0}, "percent"),
    ],
)
def test_wrong_parameter_is_named(kind: str, change: dict[str, object], parameter: str) -> None:
    name = ConditionKind(kind)
    with pytest.raises(InvalidParameters) as error:
        parse_condition(name, GOOD[name] | change)
    assert error.value.parameter == parameter
