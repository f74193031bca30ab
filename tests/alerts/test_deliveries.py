"""Messages about incidents: one when an alert fires, one when it resolves, none while silenced."""

import json
import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs

import httpx
import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import mail
from django.utils import timezone
from pytest_django import Settings

from alerts import deliveries, silences, tasks
from alerts.conditions.registry import ConditionKind
from alerts.deliveries import announce
from alerts.evaluation import find_projects
from alerts.evidence import build_comparison
from alerts.models import AlertIncident, AlertRule
from projects import audit
from projects.models import Project, User, Webhook, WebhookDelivery
from projects.project_ids import create_project
from tests.alerts.stored_values import MINUTE, START, add_rule, store_minutes
from tests.findings.factory import FOUND, add_finding
from tests.ingest.client import Client

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


def find_query(url: str, page: str) -> dict[str, str]:
    """Return the parameters of the page, of which each occurs once."""
    address, _, query = url.partition("?")
    assert address.endswith(f"/{page}")
    return {name: value for name, [value] in parse_qs(query).items()}


def read_html(number: int) -> str:
    """Return the HTML of an e-mail that was sent."""
    message = mail.outbox[number]
    assert isinstance(message, mail.EmailMultiAlternatives)
    return str(message.alternatives[0][0])


def load_image(html: str) -> httpx.Response:
    """Load the image of an e-mail as its reader's program does."""
    [source] = re.findall(r'<img src="([^"]+)"', html)
    path = unescape(source).removeprefix(settings.FLAMEWATCH_URL)
    return Client("").request("GET", path.replace(".png?", ".svg?"))


@pytest.mark.django_db(transaction=True)
def test_firing_alert_has_the_difference_as_a_link_and_an_image(project: Project) -> None:
    Webhook.objects.create(project=project, name="json", url="https://a.example.org/")
    Webhook.objects.create(
        project=project, name="chat", url="https://b.example.org/", format="slack"
    )
    store_minutes(project, [0.2] * 20 + [0.8] * 20, start=timezone.now() - 40 * MINUTE)
    started = timezone.now() - 10 * MINUTE
    incident = fire(add_rule(project), started=started)  # it held for 10 minutes before
    announce(project, timezone.now())
    end(incident, timezone.now())
    announce(project, timezone.now())
    by_name = {
        row.webhook.name: json.loads(row.body)
        for row in WebhookDelivery.objects.filter(event__endswith="firing")
    }
    data, slack = by_name["json"]["data"], by_name["chat"]
    query = find_query(data["comparison_url"], f"p/{project.project_id}/compare")
    assert query.pop("f") == "show:/^price$/"
    assert (query.pop("service"), query.pop("type")) == ("shop", "CPU")
    times = {name: datetime.fromisoformat(text) for name, text in query.items()}
    assert times["b.to"] == times["from"]
    assert times["from"] == pytest.approx(started - 10 * MINUTE, abs=timedelta(seconds=1))
    assert times["to"] - times["from"] == times["b.to"] - times["b.from"]
    assert f"<{data['comparison_url']}|What changed>" in slack["text"]
    assert slack["attachments"][0]["image_url"].partition("/embed/")[0] == settings.FLAMEWATCH_URL
    assert data["comparison_url"] in str(mail.outbox[0].body)
    html = read_html(0)
    assert unescape(html).count(data["comparison_url"]) == 2
    image = load_image(html)
    assert image.status_code == 200, image.text
    # 0.2 s before; 0.8 s since.
    assert "<title>price 200 ms → 800 ms (+600 ms)</title>" in image.text
    assert "CPU time · show:/^price$/ · 200 ms → 800 ms per profile" in image.text
    assert "embed" not in read_html(1)
    bodies = WebhookDelivery.objects.filter(event__endswith="resolved").values_list("body")
    assert all("comparison_url" not in body for (body,) in bodies)


@pytest.mark.parametrize(
    ("kind", "parameters", "function", "shift", "pattern"),
    [
        (
            ConditionKind.AGAINST_LAST_WEEK,
            {"measure": "cores", "is_above": True, "percent": 20, "minutes": 60},
            "",
            timedelta(days=7),
            None,
        ),
        (
            ConditionKind.VALUE,
            {"measure": "cores", "is_above": True, "threshold": 0.25, "minutes": 30},
            "/^shop\\.pricing/",
            timedelta(minutes=90),
            "show:/^shop\\.pricing/",
        ),
        (
            ConditionKind.VALUE,
            {"measure": "cores", "is_above": True, "threshold": 0.25, "minutes": 30},
            "github.com/shop.(*Cart).Sum",
            timedelta(minutes=90),
            r"show:/^github\.com/shop\.\(\*Cart\)\.Sum$/",
        ),
        (
            ConditionKind.VALUE,
            {"measure": "cores", "is_above": True, "threshold": 0.25, "minutes": 30},
            "x" * 500,
            timedelta(minutes=90),
            None,
        ),
    ],
)
def test_comparison_has_the_function_and_the_time_before(
    kind: ConditionKind,
    parameters: dict[str, object],
    function: str,
    shift: timedelta,
    pattern: str | None,
    project: Project,
) -> None:
    incident = fire(add_rule(project, kind, parameters, function=function))
    condition = incident.rule.parse_condition()
    query = parse_qs(build_comparison(incident, condition, START + HOUR))
    assert query.get("f") == ([pattern] if pattern else None)
    times = {
        name: datetime.fromisoformat(query[name][0]) for name in ("from", "to", "b.from", "b.to")
    }
    assert times["to"] == START + HOUR
    assert {times["from"] - times["b.from"], times["to"] - times["b.to"]} == {shift}


def test_comparison_of_a_new_alert_is_of_five_minutes_that_are_over(project: Project) -> None:
    condition = {"measure": "cores", "is_above": True, "threshold": 0.25, "minutes": 1}
    incident = fire(add_rule(project, ConditionKind.VALUE, condition))
    query = parse_qs(build_comparison(incident, incident.rule.parse_condition(), START + MINUTE))
    assert datetime.fromisoformat(query["to"][0]) == START + MINUTE
    assert datetime.fromisoformat(query["from"][0]) == START - 4 * MINUTE
    assert datetime.fromisoformat(query["b.from"][0]) == START - 9 * MINUTE


def test_alert_on_a_finding_compares_its_times(project: Project) -> None:
    finding = add_finding(project)
    rule = add_rule(project, ConditionKind.FINDING, {"percent": 10})
    incident = AlertIncident.objects.create(
        rule=rule, subject=finding.finding_id, service="shop", started=FOUND
    )
    query = parse_qs(build_comparison(incident, rule.parse_condition(), FOUND))
    assert datetime.fromisoformat(query["from"][0]) == finding.change_time
    assert query["b.to"] == query["from"]
    assert query["f"] == [r"show:/^shop\.price$/"]
    other = fire(rule)  # whose finding was deleted
    assert build_comparison(other, rule.parse_condition(), FOUND) == ""


def test_messages_have_no_image_if_the_operator_says_so(
    project: Project, settings: Settings
) -> None:
    settings.NOTICE_IMAGE_DAYS = 0
    fire(add_rule(project))
    announce(project, START + MINUTE)
    html = read_html(0)
    assert "/compare?" in html
    assert "<img" not in html


def test_message_about_a_long_name_has_no_image(project: Project) -> None:
    fire(add_rule(project, function="é" * 450))
    announce(project, START + MINUTE)
    html = read_html(0)
    assert "/compare?" in html
    assert "<img" not in html


def test_image_of_a_message_expires(project: Project) -> None:
    fire(add_rule(project))
    announce(project, timezone.now() - timedelta(days=7, seconds=1))
    assert load_image(read_html(0)).status_code == 410


@pytest.mark.parametrize(
    ("fields", "recipients"),
    [
        ({}, ["all", "alerts"]),
        ({"tells_subscribed_webhooks": False}, []),
        ({"named_webhooks": ["none"]}, ["all", "alerts", "none"]),
        (
            {"named_webhooks": ["none", "alerts", "gone"], "tells_subscribed_webhooks": False},
            ["alerts", "none"],
        ),
        ({"sends_mail": False}, ["all", "alerts"]),
    ],
    ids=str,
)
def test_rule_chooses_who_is_told(
    fields: dict[str, Any], recipients: list[str], project: Project
) -> None:
    events = {"all": [], "alerts": ["quota", "alert"], "none": ["named_alert"]}
    for name, kinds in events.items():
        Webhook.objects.create(
            project=project, webhook_id=name, name=name, url="https://a.example/", kinds=kinds
        )
    incident = fire(add_rule(project, **fields))
    announce(project, START + MINUTE)
    end(incident, START + HOUR)
    announce(project, START + HOUR)
    rows = WebhookDelivery.objects.values_list("webhook__name", flat=True)
    assert sorted(rows) == sorted(recipients * 2)
    assert len(mail.outbox) == 2 * fields.get("sends_mail", True)


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
