"""`alert-rules`: create, list, change, pause and delete rules by a token."""

import pytest
from django.utils import timezone

from alerts.models import AlertIncident, AlertRule, AlertState
from projects.models import AuditEntry, Project, Role, Webhook
from tests.alerts.stored_values import add_rule
from tests.api.management.conftest import TokenClient
from tests.ingest.client import Client, assert_error_response

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]
RULE = {
    "name": "Price of shop",
    "kind": "value",
    "parameters": {"measure": "share", "is_above": True, "threshold": 13.5, "minutes": 30},
    "service": "shop",
    "type": "CPU",
    "function": "price",
}


def url(client: Client, rest: str = "") -> str:
    return f"/api/v1/projects/{client.project}/alert-rules{rest}"


def test_rule_is_created_changed_paused_and_deleted(token_client: TokenClient) -> None:
    client = token_client(Role.MEMBER)
    response = client.request("POST", url(client), json=RULE)
    assert response.status_code == 201, response.text
    made = response.json()
    assert {name: made[name] for name in RULE} == RULE
    assert (made["enabled"], made["state"], made["incidents"]) == (True, "ok", [])
    assert made["created_by"] == "member@token.example"
    path = url(client, f"/{made['id']}")
    changed = client.request("PATCH", path, json={"name": "Other", "enabled": False}).json()
    assert (changed["name"], changed["enabled"]) == ("Other", False)
    assert changed["parameters"] == RULE["parameters"]
    assert client.request("GET", path).json() == changed
    assert client.request("GET", url(client)).json()["rows"] == [changed]
    assert client.request("DELETE", path).status_code == 204
    assert client.request("GET", path).status_code == 404
    actions = AuditEntry.objects.filter(action__startswith="alert_rule").order_by("pk")
    assert [row.action.partition(".")[2] for row in actions] == [
        *("create", "change", "pause", "delete")
    ]


def test_rule_chooses_its_recipients(token_client: TokenClient, project: Project) -> None:
    client = token_client(Role.MEMBER)
    hook = Webhook.objects.create(project=project, name="chat", url="https://chat.example/")
    made = client.request("POST", url(client), json=RULE).json()
    recipients = ("email", "subscribed_webhooks", "webhooks")
    assert [made[name] for name in recipients] == [True, True, []]
    path = url(client, f"/{made['id']}")
    change = {"email": False, "subscribed_webhooks": False, "webhooks": [hook.webhook_id]}
    changed = client.request("PATCH", path, json=change).json()
    assert {name: changed[name] for name in recipients} == change
    hook.delete()  # what was chosen before stays, and does not prevent other changes
    assert client.request("PATCH", path, json={"name": "Other"}).json()["webhooks"] == [
        hook.webhook_id
    ]


def test_webhook_of_another_project_is_rejected(
    token_client: TokenClient, other_project: Project
) -> None:
    client = token_client(Role.MEMBER)
    hook = Webhook.objects.create(project=other_project, name="chat", url="https://chat.example/")
    texts = []
    for name in (hook.webhook_id, "none"):
        response = client.request("POST", url(client), json={**RULE, "webhooks": [name]})
        assert response.status_code == 400
        texts.append(response.json()["error"]["message"].replace(name, "ID"))
    assert texts == ["webhooks: The project has no webhook ID."] * 2
    assert AlertRule.objects.count() == 0


def test_rule_has_its_state_and_incidents(token_client: TokenClient, project: Project) -> None:
    rule = add_rule(project)
    AlertState.objects.create(rule=rule, subject="shop", service="shop", phase="firing")
    AlertIncident.objects.create(
        rule=rule, subject="shop", service="shop", started=timezone.now(), value=0.5
    )
    client = token_client(Role.VIEWER)
    (row,) = client.request("GET", url(client)).json()["rows"]
    assert row["state"] == "firing"
    assert [(each["value"], each["ended"]) for each in row["incidents"]] == [(0.5, None)]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"name": ""}, "name"),
        ({"kind": "other"}, "kind: must be one of value, against_last_week"),
        ({"parameters": []}, "parameters: must be an object"),
        ({"parameters": {"measure": "share"}}, "is_above"),
        ({"service": ""}, "service"),
        ({"type": "DISK"}, "type"),
        ({"enabled": "no"}, "enabled: must be true or false"),
        ({"other": 1}, "is unknown"),
    ],
)
def test_wrong_field_is_400_and_names_it(
    token_client: TokenClient, change: dict[str, object], word: str
) -> None:
    client = token_client(Role.MEMBER)
    response = client.request("POST", url(client), json=RULE | change)
    assert_error_response(response, 400, "INVALID_ARGUMENT", word)
    assert AlertRule.objects.count() == 0


def test_rule_of_another_project_is_404(token_client: TokenClient, other_project: Project) -> None:
    rule = add_rule(other_project)
    client = token_client(Role.OWNER)
    for method in ("GET", "PATCH", "DELETE"):
        response = client.request(method, url(client, f"/{rule.rule_id}"))
        assert response.status_code == 404
    assert AlertRule.objects.count() == 1
