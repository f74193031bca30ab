"""The server as the official Python client sees it, in its own words and of earlier revisions."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from api.mcp.catalog import TOOLS
from profiler_site.asgi import application
from projects.models import Deployment
from tests.api.conftest import SHOP, Ask
from tests.ingest.client import URL, Client

pytestmark = pytest.mark.django_db(transaction=True)
MODES = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}


def run(key: str, mode: str, work: Callable[[McpClient], Awaitable[Any]]) -> Any:
    """Connect in a mode of the client, and return the result of `work`."""

    async def connect() -> Any:
        transport = httpx2.ASGITransport(application)  # type: ignore[arg-type]
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(transport=transport, headers=headers) as http:
            streams = streamable_http_client(f"{URL}/mcp", http_client=http)
            async with McpClient(streams, mode=mode) as client:
                return await work(client)

    return asyncio.run(connect())


@pytest.mark.parametrize("mode", MODES)
def test_client_agrees_on_a_version_and_lists_tools(mode: str, reader: Client) -> None:
    async def work(client: McpClient) -> Any:
        listed = await client.list_tools()
        return client.protocol_version, [each.name for each in listed.tools]

    assert run(reader.key, mode, work) == (MODES[mode], [*TOOLS])


@pytest.mark.parametrize("mode", MODES)
def test_client_calls_a_tool(mode: str, shop: Deployment, ask: Ask, reader: Client) -> None:
    async def work(client: McpClient) -> Any:
        return await client.call_tool("hottest_functions", {**SHOP, "limit": 3})

    result = run(reader.key, mode, work)
    assert not result.is_error
    document = json.loads(result.content[0].text)
    assert document["total"] == ask("top").json()["total"]
    names = [row[0] for row in document["rows"]]
    assert names == ask("top", size=3).json()["functions"]["name"]


@pytest.mark.parametrize("mode", MODES)
def test_client_gets_the_text_of_an_error(mode: str, shop: Deployment, reader: Client) -> None:
    async def work(client: McpClient) -> Any:
        return await client.call_tool("sandwich", SHOP)

    result = run(reader.key, mode, work)
    assert result.is_error
    assert result.content[0].text == "focus: is missing"
