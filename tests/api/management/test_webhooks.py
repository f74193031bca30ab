"""Webhooks by the management API."""

import pytest

from projects.models import AuditEntry, Project, Role, Webhook, WebhookDelivery
from tests.api.management.conftest import TokenClient
from tests.ingest.client import Client, assert_error_response

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]
BODY = {"name": "chat", "url": "https://chat.example.org/hook", "kinds": ["alert", "finding"]}


def url(client: Client, path: str = "") -> str:
    return f"/api/v1/projects/{client.project}/webhooks{path}"


def test_webhook_is_created_tested_rotated_switched_and_deleted(token_client: TokenClient) -> None:
    client = token_client(Role.ADMIN)
    made = client.request("POST", url(client), json=BODY)
    assert made.status_code == 201, made.text
    secret = made.json()["secret"]
    [row] = client.request("GET", url(client)).json()["rows"]
    assert row == {name: value for name, value in made.json().items() if name != "secret"}
    assert (row["format"], row["kinds"], row["enabled"]) == ("generic", BODY["kinds"], True)
    path = url(client, f"/{row['id']}")
    assert client.request("POST", f"{path}/test", json={}).status_code == 204
    [delivery] = client.request("GET", f"{path}/deliveries").json()["rows"]
    assert (delivery["kind"], delivery["attempts"], delivery["delivered"]) == ("test", 0, None)
    assert delivery["id"] == f"msg_{WebhookDelivery.objects.get().message_id.hex}"
    rotated = client.request("POST", f"{path}/rotate", json={}).json()["secret"]
    assert rotated.startswith("whsec_")
    assert rotated != secret
    assert client.request("PATCH", path, json={"enabled": False}).json()["enabled"] is False
    assert client.request("PATCH", path, json={"enabled": True}).json()["enabled"] is True
    assert client.request("DELETE", path).status_code == 204
    assert not Webhook.objects.exists()
    actions = AuditEntry.objects.filter(action__startswith="webhook").order_by("pk")
    assert [entry.action for entry in actions] == [
        *("webhook.create", "webhook.rotate", "webhook.change", "webhook.change"),
        "webhook.delete",
    ]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "100"),
        ({"url": "http://chat.example.org/"}, "url"),
        ({"url": "ftp://chat.example.org/"}, "url"),
        ({"format": "xml"}, "format"),
        ({"kinds": ["coffee"]}, "coffee"),
        ({"kinds": "alert"}, "list of strings"),
        ({"nonce": "x"}, "is unknown"),
        ({"secret": "x"}, "is unknown"),
    ],
)
def test_bad_webhook_is_400_and_stores_nothing(
    token_client: TokenClient, change: dict[str, object], word: str
) -> None:
    client = token_client(Role.OWNER)
    response = client.request("POST", url(client), json=BODY | change)
    assert_error_response(response, 400, "INVALID_ARGUMENT", word)
    assert not Webhook.objects.exists()


def test_webhook_of_another_project_is_404(
    token_client: TokenClient, other_project: Project
) -> None:
    foreign = Webhook.objects.create(project=other_project, name="x", url=str(BODY["url"]))
    client = token_client(Role.OWNER)
    bodies = {"PATCH": {"enabled": False}, "POST": {}}
    for method, path in (
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/rotate"),
        ("POST", "/test"),
        ("GET", "/deliveries"),
    ):
        address = url(client, f"/{foreign.webhook_id}{path}")
        response = client.request(method, address, json=bodies.get(method))
        assert_error_response(response, 404, "NOT_FOUND")
    before = (foreign.nonce, foreign.disabled)
    foreign.refresh_from_db()
    assert (foreign.nonce, foreign.disabled) == before
    assert not WebhookDelivery.objects.exists()
