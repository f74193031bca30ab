"""Messages, headers, versions and errors of the MCP server."""

import base64
import json
from typing import Any

import pytest

from api.mcp.catalog import TOOLS
from api.mcp.messages import CALL_TOOL, MAX_BATCH, SERVER_FIELD, SUPPORTED_VERSIONS, VERSION_FIELD
from projects.models import Deployment
from tests.api.conftest import SHOP
from tests.api.mcp.conftest import META, post
from tests.ingest.client import URL, Client, assert_error_response

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]
SERVICES = {"name": "list_services", "arguments": {}}
_TO_INITIALIZE = {"capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}


def legacy(
    client: Client, message: Any, version: str | None = None, **headers: str
) -> tuple[int, Any]:
    """Send a message of an earlier revision; return the status and the document."""
    sent = headers | ({"MCP-Protocol-Version": version} if version else {})
    response = client.request("POST", "/mcp", json=message, headers=sent)
    return response.status_code, response.json() if response.content else None


def request_of(method: str, params: dict[str, Any] | None = None, id: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def test_server_says_what_it_supports(reader: Client) -> None:
    result = post(reader, "server/discover").json()["result"]
    assert result["resultType"] == "complete"
    assert tuple(result["supportedVersions"]) == SUPPORTED_VERSIONS
    assert result["capabilities"] == {"tools": {}}
    assert "list_services" in result["instructions"]
    assert result["_meta"][SERVER_FIELD]["name"] == "flamewatch"


def test_list_of_tools_has_a_schema_and_a_description_of_each(reader: Client) -> None:
    result = post(reader, "tools/list").json()["result"]
    assert [each["name"] for each in result["tools"]] == [*TOOLS]
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")
    for tool in result["tools"]:
        schema = tool["inputSchema"]
        assert {*schema["required"]} <= {*schema["properties"]}
        assert all(each["description"] for each in schema["properties"].values())
        assert tool["annotations"]["readOnlyHint"]


def test_tool_is_called_with_its_name_in_base64(shop: Deployment, reader: Client) -> None:
    name = base64.b64encode(b"list_services").decode()
    response = post(reader, CALL_TOOL, SERVICES, {"Mcp-Name": f"=?base64?{name}?="})
    assert response.json()["result"]["isError"] is False


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"MCP-Protocol-Version": "2025-11-25"}, -32020),
        ({"Mcp-Method": "tools/list"}, -32020),
        ({"Mcp-Name": "sandwich"}, -32020),
        ({"Mcp-Name": "=?base64?!?="}, -32020),
    ],
)
def test_headers_that_contradict_the_body_are_rejected(
    headers: dict[str, str], code: int, reader: Client
) -> None:
    response = post(reader, CALL_TOOL, SERVICES, headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, code)
    assert response.json()["id"] == 1


def test_headers_are_required(reader: Client) -> None:
    status, document = legacy(reader, request_of("tools/list", {"_meta": META}))
    assert (status, document["error"]["code"]) == (400, -32020)
    assert "is missing" in document["error"]["message"]


@pytest.mark.parametrize("missing", [*META])
def test_request_without_a_field_about_itself_is_rejected(missing: str, reader: Client) -> None:
    meta = {name: value for name, value in META.items() if name != missing}
    response = post(reader, "tools/list", {"_meta": meta})
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)


def test_unknown_version_gets_the_supported_ones(reader: Client) -> None:
    meta = META | {VERSION_FIELD: "2099-01-01"}
    response = post(reader, "tools/list", {"_meta": meta}, {"MCP-Protocol-Version": "2099-01-01"})
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, -32022)
    assert error["data"] == {"supported": [*SUPPORTED_VERSIONS], "requested": "2099-01-01"}
    status, document = legacy(reader, request_of("tools/list"), "1900-01-01")
    assert (status, document["error"]["code"]) == (400, -32022)


def test_unknown_method_is_404_and_200_in_earlier_revisions(reader: Client) -> None:
    for method in ("resources/list", "subscriptions/listen", "initialize"):
        response = post(reader, method)
        assert (response.status_code, response.json()["error"]["code"]) == (404, -32601)
    status, document = legacy(reader, request_of("resources/list"))
    assert (status, document["error"]["code"]) == (200, -32601)


def test_unknown_tool_is_an_invalid_parameter(reader: Client) -> None:
    response = post(reader, CALL_TOOL, {"name": "drop_tables", "arguments": {}})
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32602)
    assert "drop_tables" in response.json()["error"]["message"]
    for params in ({}, {"name": ["list_services"]}, {"name": "sandwich", "arguments": [1]}):
        _, document = legacy(reader, request_of(CALL_TOOL, params))
        assert document["error"]["code"] == -32602


@pytest.mark.parametrize("version", [v for v in SUPPORTED_VERSIONS if v != SUPPORTED_VERSIONS[0]])
def test_client_of_an_earlier_revision_is_served_without_a_session(
    version: str, shop: Deployment, reader: Client
) -> None:
    message = request_of("initialize", {"protocolVersion": version, **_TO_INITIALIZE})
    response = reader.request("POST", "/mcp", json=message)
    result = response.json()["result"]
    assert result["protocolVersion"] == version
    assert result["capabilities"] == {"tools": {}}
    assert "mcp-session-id" not in response.headers
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert legacy(reader, done, version) == (202, None)
    assert legacy(reader, request_of("ping"), version)[1]["result"] == {}
    _, listed = legacy(reader, request_of("tools/list"), version)
    assert len(listed["result"]["tools"]) == len(TOOLS)
    _, called = legacy(reader, request_of(CALL_TOOL, SERVICES), version)
    assert called["result"]["isError"] is False


@pytest.mark.parametrize("version", ["2099-01-01", "", None, 7])
def test_initialize_with_an_unknown_version_offers_the_newest(
    version: object, reader: Client
) -> None:
    _, document = legacy(reader, request_of("initialize", {"protocolVersion": version}))
    assert document["result"]["protocolVersion"] == "2025-11-25"


def test_batch_of_an_earlier_revision_is_answered_as_one(reader: Client) -> None:
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    status, documents = legacy(
        reader, [request_of("ping"), done, request_of("no", id=2), 5], "2025-03-26"
    )
    assert status == 200
    assert [each["id"] for each in documents] == [1, 2, None]
    assert [each["error"]["code"] for each in documents[1:]] == [-32601, -32600]
    assert legacy(reader, [done]) == (202, None)


@pytest.mark.parametrize(
    ("count", "version"), [(0, None), (MAX_BATCH + 1, None), (1, "2025-06-18"), (1, "2026-07-28")]
)
def test_other_batches_are_rejected(count: int, version: str | None, reader: Client) -> None:
    status, document = legacy(reader, [request_of("ping")] * count, version)
    assert (status, document["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"[", -32700),
        (b"[" * 60_000, -32700),
        (b"7", -32700),
        (b"{}", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "pi\\u0000ng"}', -32600),
        (b'{"jsonrpc": "2.0", "method": "x", "params": 1}', -32600),
    ],
)
def test_malformed_message_is_rejected(body: bytes, code: int, reader: Client) -> None:
    response = reader.request("POST", "/mcp", content=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, code)


def test_notifications_and_responses_are_accepted_and_ignored(reader: Client) -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
    ):
        assert legacy(reader, message) == (202, None)


def test_body_of_64_kib_is_the_limit(reader: Client) -> None:
    message = request_of("ping", {"text": "x" * 65_536})
    response = reader.request("POST", "/mcp", json=message)
    assert_error_response(response, 413, "RESOURCE_EXHAUSTED", "65,536 bytes")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_only_post_is_allowed(method: str, reader: Client) -> None:
    assert_error_response(reader.request(method, "/mcp"), 405, "UNIMPLEMENTED", "POST only")


def test_pages_of_other_sites_are_rejected(reader: Client) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:8001", f"{URL}.evil.example"):
        response = post(reader, "tools/list", headers={"Origin": origin})
        assert_error_response(response, 403, "PERMISSION_DENIED", "FLAMEWATCH_URL")
    assert post(reader, "tools/list", headers={"Origin": URL}).status_code == 200


def test_session_of_a_client_is_ignored(reader: Client) -> None:
    response = post(reader, "tools/list", headers={"Mcp-Session-Id": "x", "Last-Event-ID": "1"})
    assert response.status_code == 200


def test_long_id_and_arguments_do_not_reach_error_texts(reader: Client) -> None:
    arguments = {"x" * 20_000: 1}
    response = post(reader, CALL_TOOL, {"name": "sandwich", "arguments": arguments})
    result = response.json()["result"]
    assert result["isError"]
    assert len(json.dumps(result)) < 2000


def test_tool_of_a_stopped_service_is_an_error_of_the_server(
    shop: Deployment, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("api.mcp.view.execute", fail)
    response = post(reader, CALL_TOOL, {"name": "hottest_functions", "arguments": SHOP})
    assert (response.status_code, response.json()["error"]["code"]) == (500, -32603)
    assert "secret" not in response.text
