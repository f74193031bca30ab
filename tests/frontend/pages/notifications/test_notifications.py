"""`/p/<project>/settings/notifications`: webhooks, their secrets and their latest messages."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from projects.models import EventKind, Member, Project, Role, User, Webhook, WebhookDelivery
from projects.subscriptions import KINDS, is_subscribed
from projects.webhooks.signature import get_secret
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db
PAGE = "/p/acme-shop/settings/notifications"
FORM = {
    "name": "chat",
    "url": "https://hooks.example/T0/B1",
    "format": "slack",
    "kinds": ["finding", "alert"],
}


@pytest.fixture(autouse=True)
def signed_in(client: Client, alice: User, project: Project) -> None:
    client.force_login(alice)


def test_webhook_is_created_and_its_secret_shown_once(client: Client) -> None:
    page = render_html(client.post(PAGE, FORM))
    row = Webhook.objects.get()
    assert row.kinds == ["finding", "alert"]
    assert get_secret(row) in page
    page = render_html(client.get(PAGE))
    assert "whsec_" not in page
    assert "https://hooks.example/T0/B1" in page
    assert "Regressions, Alerts" in page


@pytest.mark.parametrize(
    ("name", "value"), [("url", "http://hooks.example/"), ("kinds", []), ("name", "")]
)
def test_bad_webhook_is_rejected_beside_its_field(name: str, value: object, client: Client) -> None:
    response = client.post(PAGE, FORM | {name: value})
    assert response.status_code == 400
    assert not Webhook.objects.exists()
    assert "https://" in response.content.decode()


def test_actions_of_a_webhook(client: Client, project: Project, other_project: Project) -> None:
    client.post(PAGE, FORM)
    row = Webhook.objects.get()
    secret = get_secret(row)
    assert client.post(f"{PAGE}/{row.webhook_id}/disable").status_code == 302
    row.refresh_from_db()
    assert row.disabled is not None
    client.post(f"{PAGE}/{row.webhook_id}/enable")
    row.refresh_from_db()
    assert row.disabled is None
    page = render_html(client.post(f"{PAGE}/{row.webhook_id}/rotate"))
    [new] = re.findall(r"whsec_[\w+/=]+", page)
    assert new != secret
    client.post(f"{PAGE}/{row.webhook_id}/test")
    assert WebhookDelivery.objects.get().kind == EventKind.TEST
    assert "waiting" in render_html(client.get(PAGE))
    assert client.post(f"{PAGE}/{row.webhook_id}/explode").status_code == 404
    client.post(f"{PAGE}/{row.webhook_id}/delete")
    assert not Webhook.objects.exists()


def test_webhooks_of_others_are_404(client: Client, other_project: Project) -> None:
    foreign = Webhook.objects.create(project=other_project, name="x", url="https://x.example/")
    message = WebhookDelivery.objects.create(webhook=foreign, event="e", kind="alert", body="{}")
    assert client.post(f"{PAGE}/{foreign.webhook_id}/delete").status_code == 404
    assert client.post(f"{PAGE}/messages/{message.pk}/redeliver").status_code == 404
    assert Webhook.objects.filter(pk=foreign.pk).exists()
    assert "x.example" not in render_html(client.get(PAGE))


def test_failed_message_says_why_and_is_sent_again(client: Client, project: Project) -> None:
    row = Webhook.objects.create(project=project, name="x", url="https://x.example/")
    message = WebhookDelivery.objects.create(
        webhook=row, event="alert:1:firing", kind="alert", body="{}", attempts=11, status=500
    )
    WebhookDelivery.objects.update(reply="<b>down</b>")
    page = render_html(client.get(PAGE))
    assert "given up" in page
    assert "&lt;b&gt;down&lt;/b&gt;" in page
    assert client.post(f"{PAGE}/messages/{message.pk}/redeliver").status_code == 302
    message.refresh_from_db()
    assert message.attempts == 0
    assert message.next_attempt is not None
    assert message.next_attempt <= timezone.now()


def test_viewer_chooses_e_mails_and_sees_no_webhook(
    client: Client, bob: User, project: Project
) -> None:
    client.post(PAGE, FORM)
    Member.objects.filter(user=bob).update(role=Role.VIEWER)
    client.force_login(bob)
    page = render_html(client.get(PAGE))
    assert "Your e-mails" in page
    assert "hooks.example" not in page
    assert "New webhook" not in page
    assert "checked" not in page
    assert client.post(PAGE, FORM).status_code == 403
    chosen = {"kinds": ["alert", "finding", "quota_request", "nonsense"]}
    page = render_html(client.post(f"{PAGE}/subscriptions", chosen, follow=True))
    assert "Your e-mails are saved" in page
    assert page.count(" checked") == 2
    member = Member.objects.get(user=bob)
    assert [kind for kind in KINDS if is_subscribed(member, kind)] == ["finding", "alert"]
