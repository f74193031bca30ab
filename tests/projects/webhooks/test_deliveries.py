"""Deliveries: signed, at least once, again after failures, and bounded."""

import base64
import hashlib
import hmac
import ipaddress
import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler

import pytest
from django.utils import timezone
from pytest_django import Settings

from profiler_site.celery import app
from projects import notices
from projects.audit import NO_CLIENT
from projects.models import (
    AuditEntry,
    EventKind,
    MailNotice,
    Project,
    User,
    Webhook,
    WebhookDelivery,
    WebhookFormat,
)
from projects.notices import Fact
from projects.webhooks import deliveries
from projects.webhooks import settings as webhooks
from projects.webhooks.deliveries import Event
from projects.webhooks.settings import InvalidWebhook, create_webhook
from projects.webhooks.signature import get_secret
from tests.projects.webhooks.receiver import HookReceiver, receiver, reply

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def loopback_allowed(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture
def received() -> Iterator[HookReceiver]:
    with receiver(reply(200)) as made:
        yield made


def add_webhook(
    project: Project,
    url: str,
    *,
    name: str = "chat",
    form: WebhookFormat = WebhookFormat.GENERIC,
    kinds: tuple[EventKind, ...] = (),
) -> Webhook:
    return Webhook.objects.create(
        project=project, name=name, url=url, format=form, kinds=[*map(str, kinds)]
    )


def add_event(project: Project, event: str = "findings:1") -> int:
    return deliveries.record_event(
        project,
        Event(EventKind.FINDING, event, "2 new <regressions>", "They cost more.", "http://x/p"),
    )


def send(now: datetime | None = None) -> int:
    return deliveries.send_due(now or timezone.now() + timedelta(seconds=1))


def test_message_is_signed_and_sent_once(project: Project, received: HookReceiver) -> None:
    webhook = add_webhook(project, received.url)
    assert [add_event(project), add_event(project)] == [1, 0]
    assert [send(), send()] == [1, 0]
    [(path, headers, body)] = received.requests
    assert path == "/hook?token=t"
    assert headers["content-type"] == "application/json"
    document = json.loads(body)
    assert document["type"] == "finding"
    assert document["data"] == {
        "project": "acme-shop",
        "event": "findings:1",
        "subject": "2 new <regressions>",
        "text": "They cost more.",
        "url": "http://x/p",
    }
    # By the specification of Standard Webhooks, computed by its description.
    key = base64.b64decode(get_secret(webhook).removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    row = WebhookDelivery.objects.get()
    assert (row.status, row.reply, row.attempts) == (200, "ok", 1)
    assert row.delivered is not None


def test_slack_compatible_message_has_escaped_text(
    project: Project, received: HookReceiver
) -> None:
    add_webhook(project, received.url, form=WebhookFormat.SLACK)
    add_event(project)
    send()
    text = json.loads(received.requests[0][2])
    assert text == {"text": "*2 new &lt;regressions&gt;*\nThey cost more.\n<http://x/p>"}


def test_failures_are_sent_again_later_with_the_same_id(project: Project) -> None:
    statuses = iter([500, 404, 200])

    def respond(handler: BaseHTTPRequestHandler) -> None:
        reply(next(statuses))(handler)

    with receiver(respond) as received:
        add_webhook(project, received.url)
        add_event(project)
        now, waits = timezone.now() + timedelta(seconds=1), []
        for _ in range(3):
            send(now)
            row = WebhookDelivery.objects.get()
            if row.next_attempt:
                assert send(row.next_attempt - timedelta(seconds=5)) == 0
                waits.append(round((row.next_attempt - timezone.now()).total_seconds(), -1))
                now = row.next_attempt
        ids = {headers["webhook-id"] for _path, headers, _body in received.requests}
    assert (len(received.requests), len(ids)) == (3, 1)
    assert waits == [80, 160]
    assert row.delivered is not None
    assert Webhook.objects.get().failing_since is None


def test_message_is_given_up_and_the_webhook_switched_off(project: Project) -> None:
    with receiver(reply(503, b"down")) as received:
        webhook = add_webhook(project, received.url)
        add_event(project)
        WebhookDelivery.objects.update(attempts=deliveries.MAX_ATTEMPTS - 1)
        send()
        row = WebhookDelivery.objects.get()
        assert (row.next_attempt, row.delivered, row.status) == (None, None, 503)
        webhook.refresh_from_db()
        assert webhook.disabled is None
        long_ago = timezone.now() - deliveries.MAX_FAILING - timedelta(hours=1)
        Webhook.objects.update(failing_since=long_ago)
        add_event(project, "findings:2")
        send()
        webhook.refresh_from_db()
        assert webhook.disabled is not None
        assert add_event(project, "findings:3") == 0


def test_crash_between_sending_and_storing_sends_again(
    project: Project, received: HookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_args: object) -> None:
        raise KeyboardInterrupt

    add_webhook(project, received.url)
    add_event(project)
    with monkeypatch.context() as patch:
        patch.setattr(deliveries, "_note", crash)
        with pytest.raises(KeyboardInterrupt):
            send()
    assert send() == 1
    ids = [headers["webhook-id"] for _path, headers, _body in received.requests]
    assert len(ids) == 2
    assert len({*ids}) == 1


def test_only_chosen_kinds_of_the_own_project_are_sent(
    project: Project, other_project: Project, received: HookReceiver
) -> None:
    add_webhook(project, received.url, kinds=(EventKind.ALERT,))
    add_webhook(project, received.url, name="all")
    add_webhook(other_project, received.url)
    assert add_event(project) == 1
    assert WebhookDelivery.objects.get().webhook.name == "all"


@pytest.mark.slow
def test_failing_webhook_does_not_hold_up_others(project: Project, received: HookReceiver) -> None:
    with receiver(reply(500)) as failing:
        add_webhook(project, failing.url, name="a")
        add_webhook(project, received.url, name="b")
        for number in range(30):
            add_event(project, f"findings:{number}")
        assert send() == deliveries.MOST_OF_WEBHOOK
        assert len(failing.requests) == 1
    assert send() == 30 - deliveries.MOST_OF_WEBHOOK


def test_facts_are_delivered_without_a_mail_server(
    project: Project, received: HookReceiver
) -> None:
    fact = Fact(project, "alert:1:firing", "CPU is firing", "Above 2.", "alerts", EventKind.ALERT)
    assert not notices.has_channel()
    add_webhook(project, received.url)
    assert notices.has_channel()
    now = timezone.now()
    assert [notices.send_once(fact, now) for _ in range(2)] == [True, False]
    assert notices.is_sent(fact)
    send()
    assert json.loads(received.requests[0][2])["data"]["url"].endswith("/p/acme-shop/alerts")
    assert MailNotice.objects.get().sent is not None


def test_facts_of_operators_and_single_people_go_to_no_webhook(
    project: Project, alice: User, received: HookReceiver
) -> None:
    add_webhook(project, received.url)
    for name, options in (("a", {"operators_only": True}), ("b", {"person": alice.pk})):
        fact = Fact(project, name, "s", "t", "usage", EventKind.QUOTA_REQUEST, **options)
        notices.send_once(fact, timezone.now())
    assert not WebhookDelivery.objects.exists()


def test_secret_is_stored_nowhere_and_rotates(project: Project, alice: User) -> None:
    webhook = create_webhook(
        project,
        name="chat",
        url="https://hooks.example/T0/secret-token",
        form=WebhookFormat.GENERIC,
        kinds=[],
        actor=alice,
        origin=NO_CLIENT,
    )
    secret = get_secret(webhook)
    webhooks.rotate_secret(webhook, actor=alice, origin=NO_CLIENT)
    assert get_secret(webhook) != secret
    webhooks.delete_webhook(webhook, actor=alice, origin=NO_CLIENT)
    entries = AuditEntry.objects.filter(project=project, action__startswith="webhook.")
    assert [entry.action for entry in entries.order_by("pk")] == [
        *("webhook.create", "webhook.rotate", "webhook.delete"),
    ]
    details = json.dumps([entry.detail for entry in entries])
    assert "hooks.example" in details
    assert "secret-token" not in details
    assert "whsec_" not in details


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "chat"}, "name"),
        ({"url": "https://user@x.example/"}, "url"),
        ({"form": "xml"}, "format"),
        ({"kinds": ["everything"]}, "kinds"),
    ],
)
def test_bad_webhooks_are_rejected(
    changes: dict[str, object], field: str, project: Project, alice: User
) -> None:
    add_webhook(project, "https://x.example/")
    values: dict[str, object] = {"name": "new", "url": "https://x.example/", "form": "generic"}
    values |= {"kinds": [], "actor": alice, "origin": NO_CLIENT} | changes
    with pytest.raises(InvalidWebhook) as caught:
        create_webhook(project, **values)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert Webhook.objects.count() == 1


def test_number_of_webhooks_is_limited(project: Project, alice: User) -> None:
    for number in range(webhooks.MAX_WEBHOOKS):
        add_webhook(project, "https://x.example/", name=f"w{number}")
    with pytest.raises(InvalidWebhook, match="the limit"):
        create_webhook(
            project,
            name="more",
            url="https://x.example/",
            form=WebhookFormat.GENERIC,
            kinds=[],
            actor=alice,
            origin=NO_CLIENT,
        )


def test_deletion_of_the_project_deletes_its_webhooks(
    project: Project, received: HookReceiver
) -> None:
    add_webhook(project, received.url)
    add_event(project)
    Project.objects.filter(pk=project.pk).update(deletion_due=timezone.now())
    assert send() == 0
    project.delete()
    assert not WebhookDelivery.objects.exists()


def test_old_messages_are_purged_and_the_task_is_scheduled(
    project: Project, received: HookReceiver
) -> None:
    add_webhook(project, received.url)
    add_event(project)
    deliveries.delete_old(timezone.now() + deliveries.RETENTION + timedelta(days=1))
    assert not WebhookDelivery.objects.exists()
    tasks = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert "projects.tasks.deliver_webhooks" in tasks
