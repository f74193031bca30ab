"""The server as the official Python client sees it, in its own words and of earlier revisions."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from django.db import connections
from django.test import Client as DjangoClient
from mcp import Client as McpClient
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from api.mcp.catalog import TOOLS
from profiler_site.asgi import application
from projects.models import AccessToken, Deployment, User
from tests.api.conftest import SHOP, Ask
from tests.frontend.html import read_forward
from tests.ingest.client import URL, Client

CALLBACK = "http://127.0.0.1:3118/callback"
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


class Storage:
    """Tokens and registration of the client, in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.registration: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.registration

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.registration = client_info


class ApprovingBrowser:
    """Browser of a person who is signed in and approves."""

    def __init__(self, person: User) -> None:
        self.session = DjangoClient(SERVER_NAME="127.0.0.1")
        self.session.force_login(person)
        self.location = ""

    async def open(self, address: str) -> None:
        await asyncio.to_thread(self._approve, address)

    def _approve(self, address: str) -> None:
        fields = dict(parse_qsl(urlsplit(address).query))
        assert self.session.get("/oauth/authorize", fields).status_code == 200
        form = fields | {"decision": "approve", "days": "30"}
        self.location = read_forward(self.session.post("/oauth/authorize", form))
        connections.close_all()

    async def read_callback(self) -> AuthorizationCodeResult:
        assert self.location.startswith(f"{CALLBACK}?")
        return AuthorizationCodeResult(**dict(parse_qsl(urlsplit(self.location).query)))


def test_client_without_a_key_signs_a_person_in(shop: Deployment, alice: User) -> None:
    storage, browser = Storage(), ApprovingBrowser(alice)

    async def connect(server: str) -> Any:
        auth = OAuthClientProvider(
            server,
            OAuthClientMetadata(client_name="Assistant", redirect_uris=[AnyUrl(CALLBACK)]),
            storage,
            browser.open,
            browser.read_callback,
        )
        transport = httpx2.ASGITransport(application)  # type: ignore[arg-type]
        async with httpx2.AsyncClient(transport=transport, auth=auth) as http:
            streams = streamable_http_client(server, http_client=http)
            async with McpClient(streams, mode="auto") as client:
                arguments = {**SHOP, "project": shop.project.project_id}
                return await client.call_tool("hottest_functions", arguments)

    result = asyncio.run(connect("http://127.0.0.1/mcp"))
    assert not result.is_error, result.content
    token = AccessToken.objects.get()
    assert (token.user, token.name, token.scopes) == (alice, "Assistant", ["read"])
    assert storage.tokens is not None
    assert storage.tokens.refresh_token is None
