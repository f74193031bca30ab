"""Client of the MCP server that sends messages of revision 2026-07-28."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from api.mcp.messages import (
    CALL_TOOL,
    CAPABILITIES_FIELD,
    STATELESS_VERSION,
    VERSION_FIELD,
)
from projects.models import Deployment
from tests.api.conftest import SHOP
from tests.api.management.conftest import token_client
from tests.ingest.client import Client

__all__ = ["token_client"]  # fixture

META = {VERSION_FIELD: STATELESS_VERSION, CAPABILITIES_FIELD: {}}
Post = Callable[..., httpx.Response]
CallTool = Callable[..., dict[str, Any]]


def post(
    client: Client,
    method: str,
    params: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> httpx.Response:
    """Send a request with the headers that belong to it; `fields` change the message."""
    params = {"_meta": META, **(params or {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params} | fields
    sent = {"MCP-Protocol-Version": STATELESS_VERSION, "Mcp-Method": method}
    if method == CALL_TOOL:
        sent["Mcp-Name"] = params["name"]
    return client.request("POST", "/mcp", json=message, headers=sent | (headers or {}))


def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its result."""
    response = post(client, CALL_TOOL, {"name": tool, "arguments": arguments})
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()["result"]
    return result


def read(result: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a tool's result, which is no error."""
    (content,) = result["content"]
    assert not result["isError"], content["text"]
    document: dict[str, Any] = json.loads(content["text"])
    return document


def error_text(result: dict[str, Any]) -> str:
    assert result["isError"]
    (content,) = result["content"]
    return str(content["text"])


@pytest.fixture
def shop_tool(shop: Deployment, reader: Client) -> CallTool:
    """Return a function that calls a tool for SHOP and returns its document."""

    def ask(tool: str, **arguments: Any) -> dict[str, Any]:
        return read(call(reader, tool, **(SHOP | arguments)))

    return ask
