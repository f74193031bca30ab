"""Access to every management resource: roles, scopes, strangers, API keys."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from api.management.call import AccountAction, ProjectAction
from api.management.routes import RESOURCES
from projects.credentials import access_tokens, keys
from projects.credentials.access_tokens import SCOPES
from projects.models import AccessToken, Project, Role, TokenScope
from projects.permissions import ROLES, Permission, has_permission
from tests.api.management.conftest import TokenClient
from tests.ingest.client import Client, assert_error_response

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]

READ, WRITE, MANAGE = TokenScope.READ, TokenScope.WRITE, TokenScope.MANAGE


@dataclass(frozen=True)
class AccessCase:
    """Method and path, with the lowest role and the scope that it needs; role None: an account."""

    method: str
    path: str
    role: Role | None
    scope: TokenScope


# Written by hand, beside the declarations: a change of one without the other fails.
REQUESTS = [
    AccessCase("GET", "user", None, READ),
    AccessCase("GET", "tokens", None, READ),
    AccessCase("DELETE", "tokens/fwp_none", None, MANAGE),
    AccessCase("GET", "projects", None, READ),
    AccessCase("POST", "projects", None, MANAGE),
    AccessCase("GET", "projects/{project}", Role.VIEWER, READ),
    AccessCase("PATCH", "projects/{project}", Role.ADMIN, MANAGE),
    AccessCase("GET", "projects/{project}/prices", Role.VIEWER, READ),
    AccessCase("PATCH", "projects/{project}/prices", Role.ADMIN, MANAGE),
    AccessCase("GET", "projects/{project}/members", Role.VIEWER, READ),
    AccessCase("PATCH", "projects/{project}/members/987654321", Role.ADMIN, MANAGE),
    AccessCase("DELETE", "projects/{project}/members/987654321", Role.VIEWER, MANAGE),
    AccessCase("GET", "projects/{project}/invitations", Role.ADMIN, MANAGE),
    AccessCase("POST", "projects/{project}/invitations", Role.ADMIN, MANAGE),
    AccessCase("DELETE", "projects/{project}/invitations/1", Role.ADMIN, MANAGE),
    AccessCase("GET", "projects/{project}/keys", Role.ADMIN, MANAGE),
    AccessCase("POST", "projects/{project}/keys", Role.ADMIN, MANAGE),
    AccessCase("POST", "projects/{project}/keys/fw_none/rotate", Role.ADMIN, MANAGE),
    AccessCase("DELETE", "projects/{project}/keys/fw_none", Role.ADMIN, MANAGE),
    AccessCase("GET", "projects/{project}/quotas", Role.VIEWER, READ),
    AccessCase("GET", "projects/{project}/usage", Role.VIEWER, READ),
    AccessCase("GET", "projects/{project}/quota-requests", Role.VIEWER, READ),
    AccessCase("POST", "projects/{project}/quota-requests", Role.ADMIN, MANAGE),
    AccessCase("GET", "projects/{project}/deletions", Role.OWNER, MANAGE),
    AccessCase("POST", "projects/{project}/deletions", Role.OWNER, MANAGE),
    AccessCase("DELETE", "projects/{project}/deletions/987654321", Role.OWNER, MANAGE),
    AccessCase("GET", "projects/{project}/exports", Role.OWNER, MANAGE),
    AccessCase("POST", "projects/{project}/exports", Role.OWNER, MANAGE),
    AccessCase("GET", "projects/{project}/exports/987654321/archive", Role.OWNER, MANAGE),
    AccessCase("DELETE", "projects/{project}/exports/987654321", Role.OWNER, MANAGE),
    AccessCase("GET", "projects/{project}/alert-rules", Role.VIEWER, READ),
    AccessCase("POST", "projects/{project}/alert-rules", Role.MEMBER, WRITE),
    AccessCase("GET", "projects/{project}/alert-rules/none", Role.VIEWER, READ),
    AccessCase("PATCH", "projects/{project}/alert-rules/none", Role.MEMBER, WRITE),
    AccessCase("DELETE", "projects/{project}/alert-rules/none", Role.MEMBER, WRITE),
    AccessCase("GET", "projects/{project}/webhooks", Role.ADMIN, MANAGE),
    AccessCase("POST", "projects/{project}/webhooks", Role.ADMIN, MANAGE),
    AccessCase("PATCH", "projects/{project}/webhooks/none", Role.ADMIN, MANAGE),
    AccessCase("DELETE", "projects/{project}/webhooks/none", Role.ADMIN, MANAGE),
    AccessCase("POST", "projects/{project}/webhooks/none/rotate", Role.ADMIN, MANAGE),
    AccessCase("POST", "projects/{project}/webhooks/none/test", Role.ADMIN, MANAGE),
    AccessCase("GET", "projects/{project}/webhooks/none/deliveries", Role.ADMIN, MANAGE),
    AccessCase("GET", "projects/{project}/audit", Role.ADMIN, READ),
]


def send(client: Client, request: AccessCase) -> int:
    path = request.path.format(project=client.project)
    response = client.request(request.method, f"/api/v1/{path}")
    return response.status_code


def test_every_action_has_a_row_here() -> None:
    declared = sum(len(resource.actions) for resource in RESOURCES)
    assert declared == len(REQUESTS)
    for resource in RESOURCES:
        for action in resource.actions.values():
            assert isinstance(action, AccountAction | ProjectAction)


def test_scopes_are_declared_for_the_permissions_of_all_actions() -> None:
    used = {
        action.permission
        for resource in RESOURCES
        for action in resource.actions.values()
        if isinstance(action, ProjectAction)
    }
    assert used <= SCOPES.keys()
    assert Permission.VIEW in used


@pytest.mark.parametrize("case", REQUESTS, ids=str)
def test_role_below_the_lowest_is_403_and_others_pass(
    token_client: TokenClient, case: AccessCase
) -> None:
    for role in ROLES:
        status = send(token_client(role), case)
        is_allowed = case.role is None or ROLES.index(role) >= ROLES.index(case.role)
        assert (status == 403) is not is_allowed, (role, status)


@pytest.mark.parametrize("case", REQUESTS, ids=str)
def test_token_without_the_scope_is_403(token_client: TokenClient, case: AccessCase) -> None:
    others = [scope for scope in TokenScope if scope != case.scope]
    if case.path == "projects/{project}/members/987654321":
        others = [TokenScope.WRITE]
    assert send(token_client(Role.OWNER, others), case) == 403


@pytest.mark.parametrize("case", [row for row in REQUESTS if row.role], ids=str)
def test_project_of_others_answers_like_a_missing_one(
    token_client: TokenClient, case: AccessCase, project: Project
) -> None:
    stranger = token_client(None)
    errors = []
    for name in (project.project_id, "no-such-project"):
        path = f"/api/v1/{case.path.format(project=name)}"
        response = stranger.request(case.method, path)
        assert response.status_code == 404
        errors.append((response.json()["error"]["message"], response.json()["error"]["status"]))
    assert errors[0] == errors[1]


@pytest.mark.parametrize("case", REQUESTS, ids=str)
def test_api_keys_and_strangers_are_rejected(
    agent: Client, reader: Client, project: Project, case: AccessCase
) -> None:
    assert send(agent, case) == 403
    assert send(reader, case) == 403
    assert send(Client(project.project_id), case) == 401
    assert send(Client(project.project_id, "fwp_wrong"), case) == 401


def test_expired_token_is_401(token_client: TokenClient) -> None:
    client = token_client(Role.OWNER)
    AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    access_tokens.forget(AccessToken.objects.get().token_id)
    response = client.request("GET", "/api/v1/user")
    assert_error_response(response, 401, "UNAUTHENTICATED", "expired")


def test_wrong_secret_is_401(token_client: TokenClient) -> None:
    client = token_client(Role.OWNER)
    parts = keys.parse(client.key, access_tokens.TOKEN_PREFIX)
    text = keys.make(parts.key_id, "x" * 32, access_tokens.TOKEN_PREFIX)
    wrong = Client(client.project, text)
    assert wrong.request("GET", "/api/v1/user").status_code == 401


@pytest.mark.parametrize("method", ["DELETE", "PUT", "TRACE"])
def test_method_without_an_action_is_405(token_client: TokenClient, method: str) -> None:
    response = token_client(Role.OWNER).request(method, "/api/v1/projects")
    assert_error_response(response, 405, "UNIMPLEMENTED", "This URL supports GET and POST only.")
    assert response.headers["Allow"] == "GET, POST"


def test_unknown_parameter_is_400(token_client: TokenClient) -> None:
    response = token_client(Role.OWNER).request("GET", "/api/v1/user", params={"verbose": "1"})
    assert_error_response(response, 400, "INVALID_ARGUMENT", "verbose")


@pytest.mark.usefixtures("stopped_clock")
def test_requests_above_the_limit_of_a_minute_are_429(
    token_client: TokenClient, settings: Settings
) -> None:
    settings.QUERIES_PER_MINUTE = 2
    client = token_client(Role.VIEWER)
    statuses = [client.request("GET", "/api/v1/user").status_code for _ in range(4)]
    assert statuses == [200, 200, 429, 429]


def test_token_reads_profiles_by_the_scope_and_the_role(token_client: TokenClient) -> None:
    client = token_client(Role.VIEWER, [READ])
    path = f"/api/v1/projects/{client.project}/services"
    assert client.request("GET", path).status_code == 200
    assert client.request("GET", "/api/v1/projects/-/services").status_code == 404
    assert token_client(None).request("GET", path).status_code == 404
    writer = token_client(Role.VIEWER, [WRITE])
    assert writer.request("GET", path).status_code == 403


def test_token_of_a_member_adds_notes_in_the_name_of_the_person(
    token_client: TokenClient, agent: Client
) -> None:
    client = token_client(Role.MEMBER)
    path = f"/api/v1/projects/{client.project}/annotations"
    note = client.request("POST", path, json={"text": "deploy"})
    assert note.status_code == 201, note.text
    assert note.json()["created_by_key"] == ""
    assert agent.request("DELETE", f"{path}/{note.json()['id']}").status_code == 404
    assert token_client(Role.VIEWER).request("POST", path, json={"text": "x"}).status_code == 403
    assert client.request("DELETE", f"{path}/{note.json()['id']}").status_code == 204


def test_token_reads_a_suspended_project_and_requests_nothing_there(
    token_client: TokenClient, project: Project
) -> None:
    client = token_client(Role.OWNER)
    Project.objects.filter(pk=project.pk).update(suspended=timezone.now(), suspension_reason="x")
    path = f"/api/v1/projects/{client.project}"
    assert client.request("GET", f"{path}/services").status_code == 200
    body = {"service": "shop", "type": "CPU"}
    assert client.request("POST", f"{path}/capture", json=body).status_code == 403
    assert client.request("GET", f"{path}/keys").status_code == 200


def test_token_sends_no_profiles(token_client: TokenClient) -> None:
    client = token_client(Role.OWNER)
    assert client.handshake().status_code == 401
    assert client.offline().status_code == 401


def test_scopes_cover_what_roles_may_do() -> None:
    assert all(has_permission(Role.OWNER, permission) for permission in SCOPES)
