"""Contract of the API: complete, and true of the responses."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

import pytest
from django.urls import get_resolver
from django.utils import timezone

from api import urls
from api.contract.openapi import build_contract
from api.contract.schemas import build_schema
from api.management.call import ProjectResource
from api.management.routes import RESOURCES
from endpoints.params.reader import BadParameter
from ingest.files import params as import_params
from profiles.deletion import jobs as deletions
from profiles.deletion.jobs import DeletionSelection
from profiles.project_export import jobs as exports
from projects import invitations, quota_requests
from projects.audit import NO_CLIENT
from projects.models import DayRejections, DayUsage, Member, Project, Role, User, Webhook
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName
from projects.webhooks.settings import add_test
from tests.alerts.stored_values import add_rule
from tests.api.conftest import Ask
from tests.api.management.conftest import token_client
from tests.ingest.client import Client

__all__ = ["token_client"]

WEBHOOK = {"name": "ci", "url": "https://chat.example.org/ci"}
QUOTA_RULE = {"name": "Quotas", "kind": "quota", "parameters": {"quota": "", "percent": 80}}

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def require_match(value: Any, schema: Mapping[str, Any], where: str) -> None:
    """Compare a value with a schema; objects have the documented fields and no others."""
    if not schema:
        return
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    assert any(isinstance(value, _TYPES[kind]) for kind in kinds), (where, value, kinds)
    if isinstance(value, dict) and "properties" in schema:
        assert value.keys() == schema["properties"].keys(), where
        for name, each in schema["properties"].items():
            require_match(value[name], each, f"{where}.{name}")
    if isinstance(value, list):
        for each in value:
            require_match(each, schema["items"], f"{where}[]")
    if schema.get("format") == "date-time" and value is not None:
        datetime.fromisoformat(value)


def operation(path: str, method: str) -> dict[str, Any]:
    found: dict[str, Any] = build_contract()["paths"][path][method]
    return found


def documented_response(path: str, method: str, status: int) -> dict[str, Any]:
    response = operation(path, method)["responses"][str(status)]
    schema: dict[str, Any] = response["content"]["application/json"]["schema"]
    return schema


def test_every_url_is_in_the_contract() -> None:
    routes = {
        re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{pattern.pattern}")
        for pattern in get_resolver(urls.__name__).url_patterns
    }
    documented = set(build_contract()["paths"])
    assert routes - documented == {"/api/v1/openapi.json"}
    # Not Django's: an ASGI application of its own.
    assert documented - routes == {"/api/v1/projects/{project}/profiles:import"}


def test_contract_is_served_to_everybody() -> None:
    response = Client("").request("GET", "/api/v1/openapi.json")
    assert response.status_code == 200
    assert response.json()["openapi"] == "3.1.0"
    assert response.json()["paths"].keys() == build_contract()["paths"].keys()


def test_query_resources_list_the_parameters_that_they_read() -> None:
    parameters = operation("/api/v1/projects/{project}/compare", "get")["parameters"]
    by_name = {each["name"]: each for each in parameters}
    assert {"service", "type", "from", "b.from", "b.label.NAME", "metric", "f"} <= by_name.keys()
    assert [name for name, each in by_name.items() if each["required"]] == [
        "project",
        "service",
        "type",
    ]
    assert "b.service" not in by_name


def test_formats_of_a_tree_are_its_content_types() -> None:
    content = operation("/api/v1/projects/{project}/tree", "get")["responses"]["200"]["content"]
    assert content.keys() == {"application/json", "application/octet-stream", "text/plain"}


def test_import_lists_the_parameters_of_its_endpoint() -> None:
    listed = {
        each["name"]
        for each in operation("/api/v1/projects/{project}/profiles:import", "post")["parameters"]
    }
    with pytest.raises(BadParameter) as error:
        import_params.read("service=shop&nothing=1")
    accepted = set(str(error.value).partition("there are ")[2].split(", "))
    assert listed - {"project", "label.NAME"} == accepted - {"label.…", "key"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.real
def test_responses_of_all_lists_match_the_contract(
    project: Project, token_client: Any, key: str
) -> None:
    client = token_client(Role.OWNER)
    user = User.objects.get(email="owner@token.example")
    invitations.create(project, [], Role.MEMBER, actor=user)
    DayUsage.objects.create(project=project, day=utc_day(), profiles=1)
    DayRejections.objects.create(project=project, day=utc_day(), reason="conversion", count=1)
    quota_requests.create(
        project,
        LimitName.STORED_BYTES,
        40 * 10**9,
        "More services",
        actor=user,
        origin=NO_CLIENT,
    )
    deletions.request_deletion(project, DeletionSelection("shop"), actor=user)
    exports.request_export(project, actor=user)
    rule = add_rule(project)
    rule.incidents.create(subject="shop", service="shop", started=timezone.now())
    webhook = add_webhook(project)
    gets = 0
    for resource in RESOURCES:
        if "GET" not in resource.actions or resource.path.endswith("/archive"):
            continue
        is_project = isinstance(resource, ProjectResource)
        path = f"/api/v1/{'projects/{project}' if is_project else ''}{resource.path}"
        path = re.sub(r"<str:(\w+)>", r"{\1}", path)
        values = {"rule": rule.rule_id, "webhook": webhook}
        response = client.request("GET", path.format(project=project.project_id, **values))
        assert response.status_code == 200, path
        schema = documented_response(path, "get", 200)
        require_match(response.json(), schema, path)
        rows = response.json().get("rows")
        assert rows is None or rows, f"{path} lists nothing, so that nothing was compared"
        gets += 1
    assert gets == 18


def add_webhook(project: Project) -> str:
    """Store a webhook with a delivery; return its id."""
    webhook = Webhook.objects.create(project=project, name="chat", url="https://chat.example.org/")
    add_test(webhook)
    return webhook.webhook_id


@pytest.mark.django_db(transaction=True)
@pytest.mark.real
def test_responses_to_changes_match_the_contract(project: Project, token_client: Any) -> None:
    client = token_client(Role.OWNER)
    token_client(Role.VIEWER)
    member = Member.objects.get(user__email="viewer@token.example")
    rule, webhook = add_rule(project).rule_id, add_webhook(project)
    prefix, values = "/api/v1/projects/{project}", {"project": project.project_id}
    changes: list[tuple[str, str, dict[str, Any], int]] = [
        ("post", "/api/v1/projects", {"name": "Second"}, 201),
        ("patch", prefix, {"name": "Shop"}, 200),
        ("patch", f"{prefix}/members/{{member}}", {"role": "member"}, 200),
        ("post", f"{prefix}/invitations", {"role": "viewer"}, 201),
        ("post", f"{prefix}/keys", {"name": "ci"}, 201),
        ("post", f"{prefix}/alert-rules", QUOTA_RULE, 201),
        ("patch", f"{prefix}/alert-rules/{{rule}}", {"name": "Full"}, 200),
        ("post", f"{prefix}/webhooks", WEBHOOK, 201),
        ("patch", f"{prefix}/webhooks/{{webhook}}", {"enabled": False}, 200),
        ("post", f"{prefix}/webhooks/{{webhook}}/rotate", {}, 201),
        ("post", f"{prefix}/deletions", {"service": "shop", "zone": ""}, 201),
        ("post", f"{prefix}/exports", {}, 201),
        ("post", f"{prefix}/annotations", {"text": "deploy"}, 201),
    ]
    for method, path, body, status in changes:
        address = path.format(member=member.pk, rule=rule, webhook=webhook, **values)
        response = client.request(method.upper(), address, json=body)
        assert response.status_code == status, (path, response.text)
        require_match(response.json(), documented_response(path, method, status), path)


@pytest.mark.django_db(transaction=True)
@pytest.mark.real
def test_errors_match_the_contract(ask: Ask) -> None:
    error = build_contract()["components"]["schemas"]["Error"]
    require_match(ask("tree", service="").json(), error, "error")


def test_a_type_without_a_schema_is_an_error() -> None:
    class Strange(TypedDict):
        value: complex

    with pytest.raises(TypeError, match="complex"):
        build_schema(Strange)
