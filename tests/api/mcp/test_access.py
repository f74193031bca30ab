"""Credentials, tenants and limits of the MCP server."""

from typing import Any

import pytest

from api.mcp.catalog import TOOLS
from projects.credentials import keys
from projects.models import Deployment, Project, Role, TokenScope
from tests.api.conftest import HOUR, SHOP
from tests.api.management.conftest import TokenClient
from tests.api.mcp.conftest import call, error_text, post, read
from tests.findings.factory import add_finding
from tests.ingest.client import URL, Client, assert_error_response
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)
ARGUMENTS: dict[str, dict[str, Any]] = {
    "list_services": HOUR,
    "hottest_functions": SHOP,
    "sandwich": {**SHOP, "focus": "main"},
    "compare_versions": {**SHOP, "version": "1", "baseline_version": "2"},
    "function_history": SHOP,
    "regressions": {},
}


def test_every_tool_has_a_row() -> None:
    assert ARGUMENTS.keys() == TOOLS.keys()


@pytest.mark.one_database
@pytest.mark.parametrize("method", ["tools/list", "server/discover", "tools/call"])
def test_request_without_the_read_scope_is_rejected(
    method: str, shop: Deployment, agent: Client
) -> None:
    params = {"name": "list_services"} if method == "tools/call" else {}
    missing = post(Client(agent.project), method, params)
    assert_error_response(missing, 401, "UNAUTHENTICATED", "Missing API key")
    address = f"{URL}/.well-known/oauth-protected-resource/mcp"
    expected = f'Bearer resource_metadata="{address}", scope="read"'
    assert missing.headers["www-authenticate"] == expected
    for wrong in ("fw_wrong", "fwp_wrong"):
        response = post(Client(agent.project, wrong), method, params)
        assert_error_response(response, 401, "UNAUTHENTICATED")
    assert_error_response(post(agent, method, params), 403, "PERMISSION_DENIED", "scope read")


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_another_projects_key_sees_nothing(
    tool: str, shop: Deployment, reader: Client, stranger: Client
) -> None:
    add_finding(shop.project, function="main")
    mine = call(reader, tool, **ARGUMENTS[tool])
    assert "main" in mine["content"][0]["text"] or tool == "list_services"
    own = read(call(stranger, tool, **ARGUMENTS[tool]))
    assert own.get("profiles", 0) == 0
    assert own.get("rows", []) == [] or tool == "function_history"
    assert "main" not in [each for row in own.get("rows", []) for each in row]


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_another_project_is_like_a_missing_one(
    tool: str, shop: Deployment, stranger: Client, reader: Client
) -> None:
    text = error_text(call(stranger, tool, project=reader.project, **ARGUMENTS[tool]))
    assert text == error_text(call(stranger, tool, project="no-such", **ARGUMENTS[tool]))
    assert text.startswith("No such project")


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_token_reads_the_projects_of_its_owner(
    tool: str, shop: Deployment, token_client: TokenClient, reader: Client
) -> None:
    viewer = token_client(Role.VIEWER, [TokenScope.READ])
    arguments = {"project": viewer.project, **ARGUMENTS[tool]}
    assert read(call(viewer, tool, **arguments)) == read(call(reader, tool, **arguments))


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_token_of_another_person_gets_the_text_of_a_missing_project(
    tool: str, shop: Deployment, token_client: TokenClient
) -> None:
    nobody = token_client(None)
    texts = {
        error_text(call(nobody, tool, project=project, **ARGUMENTS[tool]))
        for project in (nobody.project, "no-such")
    }
    assert len(texts) == 1


def test_token_without_a_project_is_told_which_it_may_read(
    shop: Deployment, other_project: Project, token_client: TokenClient
) -> None:
    viewer = token_client(Role.VIEWER)
    text = error_text(call(viewer, "list_services", **HOUR))
    assert text.startswith("project: is missing")
    assert viewer.project in text
    assert other_project.project_id not in text


def test_token_without_the_read_scope_may_not_read(
    shop: Deployment, token_client: TokenClient
) -> None:
    writer = token_client(Role.OWNER, [TokenScope.WRITE])
    text = error_text(call(writer, "list_services", project=writer.project, **HOUR))
    assert "lacks the scope read" in text
    assert "may read none" in error_text(call(writer, "list_services", **HOUR))


def test_key_of_some_services_reads_no_others(shop: Deployment, project: Project) -> None:
    rows.stored(rows.deployment(project, service="till"), minutes=3)
    _, text = keys.create(project, "till", write=False, read=True, services=["till"])
    client = Client(project.project_id, text)
    (row,) = read(call(client, "list_services", **HOUR))["rows"]
    assert row[0] == "till"
    for tool in set(ARGUMENTS) - {"list_services", "regressions"}:
        assert "till only, not for shop" in error_text(call(client, tool, **ARGUMENTS[tool]))
        read(call(client, tool, **ARGUMENTS[tool] | {"service": "till"}))


def test_key_of_some_services_lists_their_regressions(project: Project) -> None:
    add_finding(project, function="a")
    add_finding(project, function="b", service="till")
    _, text = keys.create(project, "till", write=False, read=True, services=["till"])
    client = Client(project.project_id, text)
    (row,) = read(call(client, "regressions"))["rows"]
    assert row[0] == "till"
    assert "till only, not for shop" in error_text(call(client, "regressions", service="shop"))


@pytest.mark.usefixtures("stopped_clock")
def test_calls_count_as_queries_and_lists_do_not(
    shop: Deployment, reader: Client, settings: Any
) -> None:
    settings.QUERIES_PER_MINUTE = 1
    found = [call(reader, "list_services", **HOUR) for _ in range(4)]
    rejected = [error_text(each) for each in found if each["isError"]]
    assert len(rejected) == 3
    assert all("FLAMEWATCH_QUERIES_PER_MINUTE" in each for each in rejected)
    response = reader.request("GET", "/api/v1/projects/-/services", params=HOUR)
    assert response.status_code == 429
    assert post(reader, "tools/list").status_code == 200


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"service": None}, "service: is missing"),
        ({"type": "CPUS"}, "type: 'CPUS' is none of"),
        ({"typ": "CPU"}, "typ: is unknown here; there are service, type"),
        ({"span": "1h"}, "from: "),
        ({"offset": -1}, "offset: "),
        ({"limit": 501}, "limit: "),
        ({"limit": True}, "limit: has to be a text or a number"),
        ({"zone": {"a": {"b": "c"}}}, "zone.a: has to be"),
        ({"zone": {"a": "c"}}, "zone.a: is unknown here"),
        ({"f": "show:/(/"}, "f: "),
        ({"version": ["x"] * 51}, "version: is given 51 times"),
        ({"version": ["x"] * 201}, "version: a call may have 200 values"),
        ({"project": 7}, "project: has to be a text"),
        ({"metric": "no such metric"}, "no such metric"),
        ({"label": {"": "x"}}, "label.: "),
    ],
)
def test_bad_argument_is_explained_to_the_assistant(
    arguments: dict[str, Any], words: str, shop: Deployment, reader: Client
) -> None:
    text = error_text(call(reader, "hottest_functions", **SHOP | arguments))
    assert words in text
