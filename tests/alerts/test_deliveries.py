"""Messages about incidents: one when an alert fires, one when it resolves, none while silenced."""

from datetime import datetime, timedelta
from unittest.mock import patch

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.utils import timezone
from pytest_django import Settings

from alerts import deliveries, silences, tasks
from alerts.conditions.registry import ConditionKind
from alerts.deliveries import announce
from alerts.evaluation import find_projects
from alerts.models import AlertIncident, AlertRule
from projects import audit
from projects.models import Project, User, Webhook, WebhookDelivery
from projects.project_ids import create_project
from tests.alerts.stored_values import MINUTE, START, add_rule, store_minutes

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def alice_has_mail(settings: Settings, project: Project, alice: User) -> None:
    settings.SENDS_MAIL = True
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)


def fire(rule: AlertRule, **fields: object) -> AlertIncident:
    values: dict[str, object] = {"started": START, "last_value": 0.5}
    return AlertIncident.objects.create(
        rule=rule, subject="shop", service="shop", **values | fields
    )


def end(incident: AlertIncident, time: datetime) -> None:
    AlertIncident.objects.filter(pk=incident.pk).update(ended=time)


def subjects() -> list[str]:
    return [message.subject.removeprefix("[Flamewatch] ") for message in mail.outbox]


def silence(project: Project, rule: AlertRule | None, duration: timedelta = HOUR) -> None:
    silences.create(
        project, rule, now=START, duration=duration, reason="", actor=None, origin=audit.SYSTEM
    )


def test_one_message_when_it_fires_and_one_when_it_resolves(project: Project) -> None:
    Webhook.objects.create(project=project, name="chat", url="https://chat.example.org/")
    incident = fire(add_rule(project))
    for _ in range(3):
        announce(project, START + MINUTE)
    assert subjects() == ["Acme Shop: Price of shop is firing"]
    body = str(mail.outbox[0].body)
    assert "CPU of price in shop above 0.25 cores for 10 minutes" in body
    assert "Value in shop: 0.5 cores. Firing since 2026-11-20 12:00 UTC." in body
    assert f"/p/{project.project_id}/alerts" in body
    end(incident, START + HOUR)
    for _ in range(3):
        announce(project, START + HOUR + MINUTE)
    assert subjects()[1:] == ["Acme Shop: Price of shop is resolved"]
    assert "from 2026-11-20 12:00 UTC to 2026-11-20 13:00 UTC" in str(mail.outbox[1].body)
    assert [row.services for row in WebhookDelivery.objects.all()] == [["shop"], ["shop"]]


@pytest.mark.parametrize("of_all", [True, False])
def test_silenced_rule_sends_nothing_until_the_silence_ends(project: Project, of_all: bool) -> None:
    rule = add_rule(project)
    fire(rule)
    silence(project, None if of_all else rule)
    announce(project, START + 59 * MINUTE)
    assert subjects() == []
    announce(project, START + 61 * MINUTE)
    assert subjects() == ["Acme Shop: Price of shop is firing"]


def test_incident_within_a_silence_is_never_announced(project: Project) -> None:
    rule = add_rule(project)
    incident = fire(rule)
    silence(project, rule)
    announce(project, START + MINUTE)
    end(incident, START + 10 * MINUTE)
    announce(project, START + 11 * MINUTE)
    announce(project, START + 2 * HOUR)
    assert subjects() == []


def test_end_within_a_silence_is_not_announced(project: Project) -> None:
    rule = add_rule(project)
    incident = fire(rule)
    announce(project, START)
    silence(project, rule)
    end(incident, START + 10 * MINUTE)
    announce(project, START + 11 * MINUTE)
    announce(project, START + 2 * HOUR)
    assert subjects() == ["Acme Shop: Price of shop is firing"]


def test_silence_of_one_rule_leaves_the_others(project: Project) -> None:
    rule, other = add_rule(project), add_rule(project, name="Other")
    fire(rule)
    fire(other)
    silence(project, rule)
    announce(project, START + MINUTE)
    assert subjects() == ["Acme Shop: Other is firing"]


def test_rules_of_all_kinds_have_a_message(project: Project) -> None:
    fire(add_rule(project, ConditionKind.STOPPED_REPORTING, {"minutes": 60}), last_value=65)
    quota = add_rule(project, ConditionKind.QUOTA, {"quota": "", "percent": 80})
    AlertIncident.objects.create(rule=quota, subject="stored_bytes", started=START, last_value=83.2)
    fire(add_rule(project, ConditionKind.FINDING, {"percent": 10}), last_value=23)
    week = {"measure": "cores", "is_above": True, "percent": 20, "minutes": 60}
    fire(add_rule(project, ConditionKind.AGAINST_LAST_WEEK, week), last_value=31)
    announce(project, START)
    bodies = [str(message.body) for message in mail.outbox]
    for sentence in (
        "Any service sends no profile for 1 hour. Last profile of shop: 1 h 5 min ago.",
        "Any quota is used to 80%. Used of quota “Stored”: 83.2%.",
        "New regression of 10% or more in any service. Regression in shop: +23%.",
        "CPU of price in shop more than 20% above the week before, for 1 hour."
        " Change of shop against the week before: +31%.",
    ):
        assert any(sentence in body for body in bodies), (sentence, bodies)


def test_task_evaluates_and_announces_once(project: Project) -> None:
    store_minutes(project, [1.0] * 20 + [5.0] * 30)
    rule = add_rule(project)
    for number in range(25, 40):
        for _ in range(2):
            with patch.object(timezone, "now", lambda n=number: START + n * MINUTE):
                tasks.evaluate_one(project.pk)
    assert AlertIncident.objects.get().rule == rule
    assert subjects() == ["Acme Shop: Price of shop is firing"]


def test_crash_between_message_and_mark_does_not_repeat_it(project: Project) -> None:
    fire(add_rule(project))
    incident = AlertIncident.objects.select_related("rule").get()
    with (
        patch.object(AlertIncident.objects, "filter", side_effect=[SystemExit]),
        pytest.raises(SystemExit),
    ):
        deliveries._announce_one(project, incident, START, is_silent=False)
    announce(project, START + MINUTE)
    assert subjects() == ["Acme Shop: Price of shop is firing"]


def test_failed_mail_server_gets_the_message_again(project: Project) -> None:
    fire(add_rule(project))
    with patch("django.core.mail.backends.locmem.EmailBackend.send_messages", side_effect=OSError):
        assert announce(project, START) == 0
    assert announce(project, START + MINUTE) == 1
    assert subjects() == ["Acme Shop: Price of shop is firing"]


def test_purge_deletes_what_ended_long_ago(project: Project) -> None:
    rule = add_rule(project)
    fire(rule)
    fire(rule, ended=START - timedelta(days=500))
    silence(project, rule)
    with patch.object(timezone, "now", lambda: START):
        tasks.purge_incidents()
    assert AlertIncident.objects.count() == 1
    assert project.alert_silences.count() == 1
    with patch.object(timezone, "now", lambda: START + timedelta(days=500)):
        tasks.purge_incidents()
    assert project.alert_silences.count() == 0


def test_sweep_runs_the_task_of_each_project_with_rules(project: Project) -> None:
    rule = add_rule(project)
    with patch.object(tasks.evaluate_one, "apply_async") as queue:
        tasks.evaluate()
        rule.is_enabled = False
        rule.save()
        tasks.evaluate()
    assert [call.args for call in queue.call_args_list] == [((project.pk,),)]


def test_projects_with_slow_rules_only_have_their_turn_every_three_minutes(
    project: Project, alice: User
) -> None:
    add_rule(project)
    others = [create_project(f"Shop {number}", alice) for number in range(3)]
    turns = [find_projects(START + number * MINUTE) for number in range(3)]
    assert all(project.pk in each for each in turns)
    for other in others:
        assert sum(other.pk in each for each in turns) == 1
    AlertRule.objects.filter(project=others[0]).update(parameters={"minutes": 5})
    assert all(others[0].pk in find_projects(START + number * MINUTE) for number in range(3))
