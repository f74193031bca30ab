"""Evaluation of rules over stored profiles whose values are planted."""

from collections.abc import Callable
from datetime import datetime, timedelta
from unittest.mock import patch

import pytest

from alerts import evaluation
from alerts.conditions.registry import ConditionKind
from alerts.evaluation import evaluate_rules, find_projects
from alerts.models import AlertIncident, AlertRule, AlertState
from alerts.readings import PointRange, load_points
from findings.models import FindingState
from profiles.query import DeadlinePassed, InvalidQuery, QueryContext
from projects.models import DayUsage, Project
from projects.profile_types import ProfileType
from projects.usage.day_usage import utc_day
from tests.alerts.stored_values import MINUTE, START, add_rule, store_minutes
from tests.findings.factory import add_finding

pytestmark = pytest.mark.django_db
# One minute for profiles to arrive; two of five values above 0.3 make the average pass 0.25, and
# then it has to hold for ten minutes.
LOW, HIGH = 1.0, 5.0  # 0.1 and 0.5 cores
RISE = 20  # the minute of the first HIGH
FIRED = START + (RISE + 2 + 10) * MINUTE


def run(project: Project, first: int, last: int) -> None:
    """Evaluate once in each of the minutes, a few seconds after it began."""
    for number in range(first, last + 1):
        evaluate_rules(project, START + number * MINUTE + timedelta(seconds=3))


def incidents(rule: AlertRule) -> list[tuple[datetime, datetime | None]]:
    return list(rule.incidents.order_by("started").values_list("started", "ended"))


def phase(rule: AlertRule) -> str:
    return rule.states.get().phase


def test_expression_stands_for_all_matching_functions_together(project: Project) -> None:
    store_minutes(project, [LOW] * RISE + [HIGH] * 30)
    steps = PointRange("shop", ProfileType.CPU, START, START + 40 * MINUTE, MINUTE)
    names = ["/^pri/", "/main|price/", "/nothing/", "price", "main", ""]
    points = load_points(QueryContext(project.pk), steps, names)
    assert points["/^pri/"] == points["price"]
    # A stack with several of them counts once.
    assert points["/main|price/"] == points["main"] == points[""]
    assert [each.value for each in points["/nothing/"]] == [0] * 40
    assert points["price"][0].value != points["price"][39].value


def test_rule_with_an_expression_fires_when_that_of_the_function_does(project: Project) -> None:
    store_minutes(project, [LOW] * RISE + [HIGH] * 30 + [LOW] * 30)
    rule = add_rule(project, function="/^pr[a-i]ce$/")
    run(project, 1, 80)
    assert [started for started, _ended in incidents(rule)] == [FIRED]


def test_rule_fires_and_resolves_at_the_known_minutes(project: Project) -> None:
    store_minutes(project, [LOW] * RISE + [HIGH] * 30 + [LOW] * 30)
    rule = add_rule(project)
    run(project, 1, 22)
    assert (phase(rule), incidents(rule)) == ("ok", [])
    run(project, 23, 32)
    assert (phase(rule), incidents(rule)) == ("pending", [])
    run(project, 33, 33)
    assert (phase(rule), incidents(rule)) == ("firing", [(FIRED, None)])
    assert rule.states.get().value == pytest.approx(0.5)
    # Four LOW of five make the average 0.18; the fifth minute after that it resolves.
    fell = START + 54 * MINUTE
    run(project, 34, 59)
    assert incidents(rule) == [(FIRED, None)]
    run(project, 60, 60)
    assert incidents(rule) == [(FIRED, fell)]
    assert phase(rule) == "ok"
    run(project, 61, 80)
    assert len(incidents(rule)) == 1


def test_repeated_and_interrupted_runs_open_one_incident(project: Project) -> None:
    store_minutes(project, [LOW] * RISE + [HIGH] * 60)
    rule = add_rule(project)
    for number in range(1, 50):
        run(project, number, number)
        run(project, number, number)
    assert incidents(rule) == [(FIRED, None)]


def test_minutes_that_were_left_out_are_observed_later(project: Project) -> None:
    """A server that was down for the whole rise comes to the same incident."""
    store_minutes(project, [LOW] * RISE + [HIGH] * 40)
    rule = add_rule(project)
    run(project, 1, 10)
    run(project, 50, 50)
    assert incidents(rule) == [(FIRED, None)]


def test_crash_between_states_leaves_the_rule_as_it_was(project: Project) -> None:
    store_minutes(project, [LOW] * RISE + [HIGH] * 40)
    rule = add_rule(project)
    run(project, 1, 32)
    with (
        patch.object(AlertRule, "save", side_effect=SystemExit),
        pytest.raises(SystemExit),
    ):
        run(project, 33, 33)
    assert AlertIncident.objects.count() == 0
    assert phase(rule) == "pending"
    run(project, 33, 35)
    assert incidents(rule) == [(FIRED, None)]


def test_rise_that_is_over_before_its_time_does_not_fire(project: Project) -> None:
    store_minutes(project, [LOW] * RISE + [HIGH] * 8 + [LOW] * 20)
    rule = add_rule(project)
    run(project, 1, 48)
    assert (phase(rule), incidents(rule)) == ("ok", [])


def test_missing_profiles_do_not_change_the_state(project: Project) -> None:
    store_minutes(project, [LOW] * RISE + [HIGH] * 4 + [None, None, HIGH, None] * 6)
    rule = add_rule(project)
    run(project, 1, 45)
    assert incidents(rule) == [(FIRED, None)]


def test_share_and_whole_service(project: Project) -> None:
    store_minutes(project, [LOW] * RISE + [HIGH] * 30)
    share = add_rule(
        project,
        parameters={"measure": "share", "is_above": True, "threshold": 80, "minutes": 1},
    )
    whole = add_rule(
        project,
        function="",
        parameters={"measure": "per_profile", "is_above": False, "threshold": 3e9, "minutes": 1},
    )
    run(project, 1, 10)
    assert share.states.get().value == pytest.approx(50)
    assert whole.states.get().value == pytest.approx(2e9)
    assert incidents(whole) == [(START + 2 * MINUTE, None)]
    run(project, 11, 40)
    assert share.states.get().value == pytest.approx(100 * 5 / 6)
    assert len(incidents(share)) == 1
    assert incidents(whole)[0][1] is not None


def test_rules_of_one_series_share_a_query(project: Project) -> None:
    store_minutes(project, [LOW] * 10)
    for number in range(3):
        add_rule(project, function=["price", "main", ""][number])
    with patch.object(evaluation, "load_points", wraps=load_points) as load:
        run(project, 5, 5)
    assert load.call_count == 1
    assert AlertState.objects.filter(value=None).count() == 0


def test_rule_against_last_week(project: Project) -> None:
    store_minutes(project, [LOW] * 180, start=START - timedelta(days=7))
    store_minutes(project, [LOW] * 60 + [HIGH] * 120)
    rule = add_rule(
        project,
        ConditionKind.AGAINST_LAST_WEEK,
        {"measure": "cores", "is_above": True, "percent": 100, "minutes": 30},
    )
    run(project, 1, 75)
    assert incidents(rule) == []
    # 16 of 60 minutes with five times the value make the average rise by more than 100 %.
    run(project, 76, 111)
    assert incidents(rule) == [(START + (60 + 16 + 30) * MINUTE, None)]


def test_service_that_stopped_reporting(project: Project) -> None:
    store_minutes(project, [LOW] * 10)
    store_minutes(project, [LOW] * 60, service="till")
    rule = add_rule(project, ConditionKind.STOPPED_REPORTING, {"minutes": 10})
    run(project, 1, 19)
    assert incidents(rule) == []
    run(project, 20, 25)
    assert incidents(rule) == [(START + 20 * MINUTE, None)]
    assert rule.incidents.get().service == "shop"
    store_minutes(project, [LOW], start=START + 30 * MINUTE)
    run(project, 31, 32)
    assert incidents(rule) == [(START + 20 * MINUTE, START + 31 * MINUTE)]


def test_outage_of_the_server_is_not_one_of_the_service(project: Project) -> None:
    store_minutes(project, [LOW] * 10 + [None] * 60 + [LOW] * 10)
    rule = add_rule(project, ConditionKind.STOPPED_REPORTING, {"minutes": 10}, service="shop")
    run(project, 1, 9)
    run(project, 69, 79)
    assert incidents(rule) == []


def test_quota(project: Project) -> None:
    rule = add_rule(project, ConditionKind.QUOTA, {"quota": "profiles_per_day", "percent": 50})
    run(project, 1, 1)
    assert incidents(rule) == []
    DayUsage.objects.update_or_create(project=project, day=utc_day(), defaults={"profiles": 10**9})
    run(project, 2, 3)
    (incident,) = rule.incidents.all()
    assert incident.subject == "profiles_per_day"
    assert incident.extreme is not None
    assert incident.extreme > 100


def test_regression_fires_until_it_is_no_longer_open(project: Project) -> None:
    rule = add_rule(project, ConditionKind.FINDING, {"percent": 20})
    old = add_finding(project, found=START - timedelta(days=1))
    small = add_finding(project, found=START, after=110e6, change=10e6)
    large = add_finding(project, found=START)
    run(project, 1, 2)
    (incident,) = rule.incidents.all()
    assert incident.subject == large.finding_id
    assert incident.last_value == pytest.approx(23)
    assert {old.finding_id, small.finding_id}.isdisjoint(
        rule.states.values_list("subject", flat=True)
    )
    large.state = FindingState.RESOLVED
    large.save()
    run(project, 3, 3)
    assert incidents(rule) == [(START + MINUTE, START + 3 * MINUTE)]
    assert rule.states.count() == 0


def test_invalid_query_is_a_problem_of_its_rules_only(project: Project) -> None:
    store_minutes(project, [LOW] * 10)
    rule, other = add_rule(project), add_rule(project, service="till")

    def fail(context: object, steps: PointRange, functions: object) -> object:
        if steps.service == "shop":
            raise InvalidQuery("Too many nodes.")
        return {"price": []}

    with patch.object(evaluation, "load_points", fail):
        run(project, 5, 5)
    rule.refresh_from_db()
    other.refresh_from_db()
    assert (rule.problem, rule.evaluated) == ("Too many nodes.", None)
    assert (other.problem, other.evaluated) == ("", START + 4 * MINUTE)
    run(project, 6, 6)
    rule.refresh_from_db()
    assert rule.problem == ""


def test_rules_after_the_deadline_come_first_in_the_next_run(project: Project) -> None:
    store_minutes(project, [LOW] * 10)
    rule = add_rule(project)
    with pytest.raises(DeadlinePassed):
        evaluate_rules(project, START + 5 * MINUTE, deadline=0.0)
    rule.refresh_from_db()
    assert rule.evaluated is None


def test_rule_that_changes_meanwhile_is_not_stored(project: Project) -> None:
    store_minutes(project, [LOW] * 10)
    rule = add_rule(project)

    def change(*args: object) -> object:
        AlertRule.objects.update(changed=START + MINUTE)
        return load(*args)

    load: Callable[..., object] = load_points
    with patch.object(evaluation, "load_points", change):
        run(project, 5, 5)
    assert rule.states.count() == 0


def test_projects_with_enabled_rules_are_evaluated(
    project: Project, other_project: Project
) -> None:
    add_rule(project)
    add_rule(project)
    add_rule(other_project, is_enabled=False)
    assert find_projects(START) == [project.pk]


def test_rules_read_only_their_own_project(project: Project, other_project: Project) -> None:
    store_minutes(other_project, [HIGH] * 30)
    rule = add_rule(project)
    run(project, 1, 30)
    assert rule.states.get().value is None
    assert incidents(rule) == []
