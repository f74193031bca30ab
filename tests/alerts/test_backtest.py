"""Tests of rules on stored history: they name the times at which a planted rise would fire."""

from datetime import timedelta

import pytest

from alerts.backtest import DAYS, STEP, Backtest, run_backtest
from alerts.conditions.registry import ConditionKind
from alerts.models import AlertRule
from profiles.query import QueryContext
from projects.models import DayUsage, Project
from tests.alerts.stored_values import START, add_rule, store_minutes
from tests.findings.factory import add_finding

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
LOW, HIGH = 1.0, 5.0
END = START + 12 * HOUR


def run(project: Project, rule: AlertRule) -> Backtest:
    return run_backtest(QueryContext(project.pk), rule, rule.parse_condition(), END)


def store_rise(project: Project) -> None:
    """Store 10 h of profiles, one each half hour, with 3 h of HIGH from the fourth on."""
    for half in range(20):
        value = HIGH if 8 <= half < 14 else LOW
        store_minutes(project, [value], start=START + half * STEP)


def test_firings_over_a_planted_rise(project: Project) -> None:
    store_rise(project)
    rule = add_rule(
        project,
        parameters={"measure": "cores", "is_above": True, "threshold": 0.25, "minutes": 60},
    )
    result = run(project, rule)
    ((subject, firing),) = result.firings
    assert subject == "shop"
    # The first true step ends at 4 h 30 min; the second one makes the hour.
    assert (firing.start, firing.end) == (START + 5 * HOUR, START + 7.5 * HOUR)
    assert firing.extreme == pytest.approx(0.5)
    (tested,) = result.subjects
    assert len(tested.observations) == DAYS * 48
    assert tested.observations[-1].time == END


def test_rise_shorter_than_the_rule_does_not_fire(project: Project) -> None:
    store_rise(project)
    rule = add_rule(
        project,
        parameters={"measure": "cores", "is_above": True, "threshold": 0.25, "minutes": 240},
    )
    assert run(project, rule).firings == []


def test_rise_against_last_week(project: Project) -> None:
    store_rise(project)
    for half in range(20):
        store_minutes(project, [LOW], start=START - timedelta(days=7) + half * STEP)
    rule = add_rule(
        project,
        ConditionKind.AGAINST_LAST_WEEK,
        {"measure": "cores", "is_above": True, "percent": 250, "minutes": 30},
    )
    ((_, firing),) = run(project, rule).firings
    # An hour of two HIGH steps is 400 % above, of one 200 %.
    assert (firing.start, firing.end) == (START + 5 * HOUR, START + 7.5 * HOUR)
    assert firing.extreme == pytest.approx(400)


def test_service_that_stopped(project: Project) -> None:
    store_rise(project)
    rule = add_rule(project, ConditionKind.STOPPED_REPORTING, {"minutes": 60})
    ((subject, firing),) = run(project, rule).firings
    assert (subject, firing.start, firing.end) == ("shop", START + 11 * HOUR, None)


def test_quota_by_day(project: Project) -> None:
    for days in (1, 2, 40):
        day = (END - timedelta(days=days)).date()
        DayUsage.objects.create(project=project, day=day, profiles=10**9 if days > 1 else 1)
    rule = add_rule(project, ConditionKind.QUOTA, {"quota": "profiles_per_day", "percent": 80})
    ((subject, firing),) = run(project, rule).firings
    assert subject == "profiles_per_day"
    assert firing.start.date() == (END - timedelta(days=2)).date()


def test_findings_of_the_range(project: Project) -> None:
    add_finding(project, found=END - timedelta(days=2))
    add_finding(project, found=END - timedelta(days=3), change=1e6)
    add_finding(project, found=END - timedelta(days=33))
    rule = add_rule(project, ConditionKind.FINDING, {"percent": 20})
    ((subject, firing),) = run(project, rule).firings
    assert (subject, firing.start) == ("shop.price", END - timedelta(days=2))
