"""Rules: their limits, their changes, and their entries in the audit log."""

from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from alerts import rules
from alerts.conditions.registry import ConditionKind
from alerts.models import AlertIncident, AlertRule, AlertState
from alerts.rules import Editor, InvalidRule, RuleFields
from projects.account_limits import LimitReached
from projects.models import AuditEntry, Project, User
from projects.service_erasure import erase_service
from tests.alerts.stored_values import add_rule

pytestmark = pytest.mark.django_db
FIELDS = RuleFields(
    name="Price of shop",
    kind=ConditionKind.VALUE,
    parameters={"measure": "share", "is_above": True, "threshold": 13.5, "minutes": 30},
    service="shop",
    type="CPU",
    function="price",
)


def actions() -> list[str]:
    rows = AuditEntry.objects.filter(action__startswith="alert").order_by("pk")
    return list(rows.values_list("action", flat=True))


def fire(rule: AlertRule) -> AlertIncident:
    AlertState.objects.create(rule=rule, subject="shop", service="shop", phase="firing")
    return AlertIncident.objects.create(
        rule=rule, subject="shop", service="shop", started=timezone.now()
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"service": ""}, "service"),
        ({"service": "x" * 256}, "service"),
        ({"type": "DISK"}, "type"),
        ({"function": ""}, "function"),
        ({"parameters": {**FIELDS.parameters, "threshold": 200}}, "threshold"),
        ({"parameters": {**FIELDS.parameters, "measure": "cores"}, "type": "HEAP"}, "measure"),
        ({"kind": ConditionKind.STOPPED_REPORTING, "parameters": {"minutes": 10}}, "type"),
        (
            {
                "kind": ConditionKind.QUOTA,
                "parameters": {"quota": "", "percent": 80},
                "type": "",
                "function": "",
            },
            "service",
        ),
        ({"function": "/(/"}, "function"),
        ({"function": "/" + "a" * 600 + "/"}, "function"),
    ],
)
def test_field_that_does_not_fit_is_named(
    project: Project, change: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRule) as error:
        rules.create_rule(project, replace(FIELDS, **change), editor=Editor())
    assert error.value.field == field
    assert AlertRule.objects.count() == 0


def test_rule_is_created_changed_and_deleted_with_its_entries(
    project: Project, alice: User
) -> None:
    editor = Editor(alice)
    rule = rules.create_rule(project, FIELDS, editor=editor)
    assert (rule.created_by, rule.is_enabled) == (alice, True)
    incident = fire(rule)
    rules.change_rule(rule, replace(FIELDS, name="Other name"), editor=editor)
    incident.refresh_from_db()
    assert incident.ended is None
    rules.change_rule(rule, replace(FIELDS, name="Other name"), editor=editor)
    rules.change_rule(rule, replace(FIELDS, function="main"), editor=editor)
    incident.refresh_from_db()
    assert incident.ended is not None
    assert rule.states.count() == 0
    rules.delete_rule(rule, editor=editor)
    assert actions() == [
        "alert_rule.create",
        *["alert_rule.change"] * 2,
        "alert_rule.delete",
    ]
    assert AlertIncident.objects.count() == 0


def test_change_of_recipients_is_recorded_and_ends_nothing(project: Project) -> None:
    rule = rules.create_rule(project, FIELDS, editor=Editor())
    incident = fire(rule)
    rules.change_rule(rule, replace(FIELDS, sends_mail=False), editor=Editor())
    incident.refresh_from_db()
    assert incident.ended is None
    detail = AuditEntry.objects.get(action="alert_rule.change").detail
    assert (detail["before"]["sends_mail"], detail["after"]["sends_mail"]) == (True, False)


def test_paused_rule_ends_its_incidents_without_a_message(project: Project) -> None:
    rule = add_rule(project)
    incident = fire(rule)
    for _ in range(2):
        rules.set_enabled(rule, False, editor=Editor())
    incident.refresh_from_db()
    assert incident.ended is not None
    assert incident.end_announced is not None
    rules.set_enabled(rule, True, editor=Editor())
    assert actions() == ["alert_rule.pause", "alert_rule.resume"]


def test_number_of_rules_is_limited(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_RULES", 1)
    rules.create_rule(project, FIELDS, editor=Editor())
    with pytest.raises(LimitReached, match="1 alert rules"):
        rules.create_rule(project, FIELDS, editor=Editor())


def test_erased_service_has_no_rules_left(project: Project, other_project: Project) -> None:
    for owner, service in ((project, "shop"), (project, "till"), (other_project, "shop")):
        add_rule(owner, service=service)
    everywhere = add_rule(
        project, ConditionKind.STOPPED_REPORTING, {"minutes": 10}, name="Everywhere"
    )
    fire(everywhere)
    erase_service(project, "shop")
    remaining = AlertRule.objects.order_by("pk").values_list("project__project_id", "service")
    assert list(remaining) == [
        (project.project_id, "till"),
        (other_project.project_id, "shop"),
        (project.project_id, ""),
    ]
    assert (AlertState.objects.count(), AlertIncident.objects.count()) == (0, 0)
