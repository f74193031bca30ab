"""Pages of alerts: rules are created, tested, changed, silenced and deleted."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from alerts.conditions.points import Measure
from alerts.conditions.registry import ConditionKind
from alerts.models import AlertIncident, AlertRule, AlertSilence, AlertState
from frontend.pages.alerts.amounts import format_threshold, parse_threshold
from projects.models import AuditEntry, Member, Project, Role, User, Webhook
from tests.alerts.stored_values import MINUTE, add_rule, store_minutes
from tests.findings.factory import add_finding

pytestmark = pytest.mark.django_db
VALUE = {
    "name": "Price of shop",
    "service": "shop",
    "type": "CPU",
    "function": "price",
    "measure": "cores",
    "is_above": "above",
    "threshold": "0.25",
    "minutes": "30",
}


@pytest.fixture
def page(client: Client, project: Project, alice: User) -> Client:
    client.force_login(alice)
    return client


def address(project: Project, rest: str = "") -> str:
    return f"/p/{project.project_id}/alerts{rest}"


def fire(rule: AlertRule, **fields: object) -> AlertIncident:
    AlertState.objects.create(rule=rule, subject="shop", service="shop", phase="firing", value=0.5)
    return AlertIncident.objects.create(
        rule=rule,
        subject="shop",
        service="shop",
        started=timezone.now() - timedelta(minutes=110),
        last_value=0.5,
        extreme=0.6,
        **fields,
    )


def test_list_shows_states_values_and_what_fires(page: Client, project: Project) -> None:
    fire(add_rule(project, name="Hot"))
    add_rule(project, name="Quiet", is_enabled=False)
    broken = add_rule(project, name="Broken", problem="Too many nodes.")
    assert broken.problem
    text = page.get(address(project)).content.decode()
    assert "has been firing for 1 h 50 min" in text
    assert "Value in shop: 0.5 cores" in text
    assert "CPU time of price in shop above 0.25 cores for 10 minutes" in text
    for words in ("Firing", "Paused", "Not evaluated", "Too many nodes.", "3 rules"):
        assert words in text
    assert "1 firing" in text  # badge of the tab


def test_empty_list_says_what_a_rule_is(page: Client, project: Project) -> None:
    assert "No rules yet." in page.get(address(project)).content.decode()


@pytest.mark.parametrize("kind", ConditionKind)
def test_form_of_each_kind_creates_its_rule(
    page: Client, project: Project, kind: ConditionKind
) -> None:
    store_minutes(project, [1.0])
    given = {
        ConditionKind.VALUE: VALUE,
        ConditionKind.AGAINST_LAST_WEEK: {**VALUE, "percent": "20"},
        ConditionKind.STOPPED_REPORTING: {"name": "Silent", "service": "", "minutes": "120"},
        ConditionKind.QUOTA: {"name": "Full", "quota": "stored_bytes", "percent": "80"},
        ConditionKind.FINDING: {"name": "Worse", "service": "shop", "percent": "10"},
    }[kind]
    url = address(project, f"/rules?kind={kind}")
    assert 'name="name"' in page.get(url).content.decode()
    response = page.post(url, given)
    rule = AlertRule.objects.get()
    assert response.headers["Location"] == address(project, f"/rules/{rule.rule_id}")
    assert (rule.name, rule.kind) == (given["name"], kind)
    shown = page.get(response.headers["Location"]).content.decode()
    assert "This rule has not fired yet." in shown
    # The form of the stored rule saves what it shows.
    before = rule.parameters
    page.post(response.headers["Location"], given)
    rule.refresh_from_db()
    assert rule.parameters == before
    assert AuditEntry.objects.filter(action__startswith="alert_rule").count() == 1


def test_form_chooses_the_recipients(page: Client, project: Project) -> None:
    store_minutes(project, [1.0])
    new = page.get(address(project, "/rules")).content.decode()
    assert 'name="tells_subscribed_webhooks" value="True"' in new  # hidden without a webhook
    ids = [
        Webhook.objects.create(project=project, name=name, url="https://a.example/").webhook_id
        for name in ("Chat", "Pager")
    ]
    given = {**VALUE, "sends_mail": "on", "webhooks": [ids[1]]}
    url = page.post(address(project, "/rules?kind=value"), given).headers["Location"]
    rule = AlertRule.objects.get()
    assert (rule.sends_mail, rule.tells_subscribed_webhooks) == (True, False)
    assert rule.named_webhooks == [ids[1]]
    text = page.get(url).content.decode()
    boxes = re.findall(r'<input type="checkbox" name="(\w+)"[^>]*?( checked)?>', text)
    assert boxes == [
        ("sends_mail", " checked"),
        ("tells_subscribed_webhooks", ""),
        ("webhooks", ""),
        ("webhooks", " checked"),
    ]
    assert "Webhook “Pager”" in text


def test_form_is_prefilled_from_the_address(page: Client, project: Project) -> None:
    store_minutes(project, [1.0])
    text = page.get(address(project, "/rules?service=shop&function=price")).content.decode()
    assert '<option value="shop" selected>' in text
    assert 'value="price"' in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"threshold": "much"}, "Enter a number with a unit of this value."),
        ({"threshold": "1 GiB"}, "Enter a number with a unit of this value."),
        ({"measure": "share", "function": ""}, "Name the function whose share it is."),
        ({"type": "HEAP"}, "This profile type measures no time"),
        ({"service": "unknown"}, "Select a valid choice"),
    ],
)
def test_wrong_field_is_explained(
    page: Client, project: Project, change: dict[str, str], sentence: str
) -> None:
    store_minutes(project, [1.0])
    response = page.post(address(project, "/rules?kind=value"), VALUE | change)
    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert AlertRule.objects.count() == 0


def test_unknown_kind_is_not_found(page: Client, project: Project) -> None:
    assert page.get(address(project, "/rules?kind=other")).status_code == 404


def store_rise(project: Project) -> None:
    """Store a day in which the last hours are high."""
    half = 30 * MINUTE
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    for number in range(20):
        value = 5.0 if number >= 14 else 1.0
        store_minutes(project, [value], start=now - (20 - number) * half)


def test_rule_is_tested_before_it_is_saved(page: Client, project: Project) -> None:
    store_rise(project)
    url = address(project, "/rules?kind=value")
    text = page.post(url, VALUE | {"do": "test"}).content.decode()
    assert "Would have fired 1 time" in text
    assert "<polyline" in text
    assert 'class="fired"' in text
    assert "0.5 cores" in text
    assert AlertRule.objects.count() == 0
    none = page.post(url, VALUE | {"do": "test", "threshold": "3"}).content.decode()
    assert "Would not have fired" in none


def test_saved_rule_is_tested_by_its_address(page: Client, project: Project) -> None:
    store_rise(project)
    rule = add_rule(project)
    text = page.get(address(project, f"/rules/{rule.rule_id}?test=1")).content.decode()
    assert "Would have fired 1 time" in text
    quota = add_rule(project, ConditionKind.QUOTA, {"quota": "", "percent": 80})
    text = page.get(address(project, f"/rules/{quota.rule_id}?test=1")).content.decode()
    assert "Would not have fired" in text


def test_rule_is_paused_resumed_and_deleted(page: Client, project: Project) -> None:
    rule = add_rule(project)
    url = address(project, f"/rules/{rule.rule_id}")
    page.post(f"{url}/pause")
    rule.refresh_from_db()
    assert not rule.is_enabled
    page.post(f"{url}/resume")
    rule.refresh_from_db()
    assert rule.is_enabled
    assert page.post(f"{url}/explode").status_code == 404
    page.post(f"{url}/delete")
    assert AlertRule.objects.count() == 0
    assert page.get(url).status_code == 404


def test_silence_is_added_and_ended(page: Client, project: Project) -> None:
    rule = add_rule(project)
    page.post(
        address(project, "/silences"),
        {"rule": rule.rule_id, "minutes": "60", "reason": "Cluster move"},
    )
    silence = AlertSilence.objects.get()
    assert silence.rule == rule
    assert silence.until - silence.created == timedelta(hours=1)
    text = page.get(address(project)).content.decode()
    assert "Cluster move" in text
    assert "Silenced" in text
    page.post(address(project, f"/silences/{silence.pk}/end"))
    assert "Cluster move" not in page.get(address(project)).content.decode()
    page.post(address(project, "/silences"), {"minutes": "1"})
    assert AlertSilence.objects.count() == 1
    page.post(address(project, "/silences"), {"minutes": "240"})
    assert AlertSilence.objects.get(rule=None).until > timezone.now()
    actions = AuditEntry.objects.filter(action__startswith="alert.").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == [
        *("alert.silence", "alert.unsilence", "alert.silence")
    ]


def test_rules_and_silences_of_other_projects_are_not_found(
    page: Client, project: Project, other_project: Project
) -> None:
    rule = add_rule(other_project)
    silence = AlertSilence.objects.create(
        project=other_project, created=timezone.now(), until=timezone.now() + timedelta(hours=1)
    )
    url = address(project, f"/rules/{rule.rule_id}")
    assert page.get(url).status_code == 404
    assert page.post(url, VALUE).status_code == 404
    assert page.post(f"{url}/delete").status_code == 404
    data = {"rule": rule.rule_id, "minutes": "60"}
    assert page.post(address(project, "/silences"), data).status_code == 404
    assert page.post(address(project, f"/silences/{silence.pk}/end")).status_code == 404
    assert "Price of shop" not in page.get(address(project)).content.decode()


def test_viewer_sees_rules_without_controls(client: Client, project: Project, bob: User) -> None:
    Member.objects.filter(project=project, user=bob).update(role=Role.VIEWER)
    client.force_login(bob)
    rule = add_rule(project)
    finding = add_finding(project)
    AlertIncident.objects.create(
        rule=add_rule(project, ConditionKind.FINDING, {"percent": 10}),
        subject=finding.finding_id,
        service="shop",
        started=timezone.now(),
        last_value=23,
    )
    text = client.get(address(project)).content.decode()
    assert "Regression in shop: +23%" in text
    shown = client.get(address(project, f"/rules/{rule.rule_id}?test=1")).content.decode()
    for absent in ("Create rule", "Save rule", "Delete rule", "pop silence"):
        assert absent not in text
        assert absent not in shown
    assert "Would not have fired" in shown


@pytest.mark.parametrize(
    ("text", "measure", "type_", "value"),
    [
        ("13.5%", Measure.SHARE, "CPU", 13.5),
        ("13,5", Measure.SHARE, "CPU", 13.5),
        ("2", Measure.CORES, "CPU", 2),
        ("400 ms", Measure.PER_PROFILE, "CONTENTION", 4e8),
        ("0.4", Measure.PER_PROFILE, "CONTENTION", 4e8),
        ("12 GiB", Measure.PER_PROFILE, "HEAP", 12 * 2**30),
        ("1gb", Measure.PER_PROFILE, "HEAP", 1e9),
        ("300", Measure.PER_PROFILE, "THREADS", 300),
        ("12 GiB", Measure.CORES, "CPU", None),
        ("-1", Measure.CORES, "CPU", None),
        ("1e3", Measure.CORES, "CPU", None),
        ("", Measure.CORES, "CPU", None),
    ],
)
def test_threshold_with_its_unit(
    text: str, measure: Measure, type_: str, value: float | None
) -> None:
    assert parse_threshold(text, measure, type_) == value
    if value is not None:
        shown = format_threshold(value, measure, type_)
        assert parse_threshold(shown, measure, type_) == pytest.approx(value)


def test_badge_counts_what_fires_at_once(
    page: Client,
    project: Project,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    rule = add_rule(project)
    fire(rule)
    assert "1 firing" in page.get(address(project)).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        page.post(address(project, f"/rules/{rule.rule_id}/pause"))
    assert "1 firing" not in page.get(address(project)).content.decode()
