"""API requests over plain HTTP to a server whose public URL is https."""

import asyncio
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from profiler_site.asgi import application
from tests.endpoints.test_api_key_urls import ADDRESSES, Address
from tests.ingest.client import URL, Client, assert_error_response

pytestmark = [pytest.mark.one_database, pytest.mark.django_db(transaction=True)]
PUBLIC = "https://flamewatch.example.org"
STRANGER, PROXY, LOCAL = "192.0.2.9", "10.0.0.9", "127.0.0.1"


@pytest.fixture(autouse=True)
def public_url(settings: Settings) -> None:
    settings.FLAMEWATCH_URL, settings.BEHIND_TLS = PUBLIC, True
    settings.TRUSTED_PROXIES = (ip_network("10.0.0.0/24"), ip_network("127.0.0.0/8"))


def request(peer: str, method: str, path: str, **options: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(application, client=(peer, 4711))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


def ask(peer: str, address: Address, **headers: str) -> httpx.Response:
    path = f"{address.root}/-{address.path}"
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return request(peer, address.method, path, headers=fields, json=address.message)


@pytest.mark.parametrize("address", ADDRESSES, ids=str)
def test_plain_http_is_403_before_the_key_is_read(address: Address) -> None:
    error = assert_error_response(
        ask(STRANGER, address, Authorization="Bearer fw_wrong"),
        403,
        "PERMISSION_DENIED",
        f"use {PUBLIC}",
        "revoke it",
    )
    assert "fw_wrong" not in error["message"]


@pytest.mark.parametrize(
    ("peer", "headers"),
    [
        (PROXY, {"X_Forwarded_For": STRANGER, "X_Forwarded_Proto": "http"}),
        (PROXY, {"X_Forwarded_For": STRANGER}),
        (LOCAL, {"X_Forwarded_For": STRANGER}),
        (STRANGER, {"X_Forwarded_Proto": "https"}),
    ],
)
def test_the_scheme_is_the_one_of_the_client(peer: str, headers: dict[str, str]) -> None:
    assert ask(peer, ADDRESSES[0], **headers).status_code == 403


@pytest.mark.parametrize(
    ("peer", "headers"),
    [
        (PROXY, {"X_Forwarded_For": STRANGER, "X_Forwarded_Proto": "https"}),
        (LOCAL, {"X_Forwarded_For": STRANGER, "X_Forwarded_Proto": "https"}),
        (LOCAL, {}),
    ],
)
def test_https_and_programs_on_this_machine_get_to_their_key(
    peer: str, headers: dict[str, str]
) -> None:
    assert_error_response(ask(peer, ADDRESSES[0], **headers), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize("path", ["/ok", "/ready"])
def test_health_checks_may_be_plain(path: str) -> None:
    assert request(STRANGER, "GET", path).status_code == 200


def test_without_an_https_url_plain_http_is_served(settings: Settings, agent: Client) -> None:
    settings.BEHIND_TLS = False
    assert_error_response(ask(STRANGER, ADDRESSES[0]), 401, "UNAUTHENTICATED")


def test_the_body_is_not_waited_for() -> None:
    sent: list[Mapping[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        assert sent, "the response begins before the body is read"
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    scope: Any = {
        "type": "http",
        "method": "PATCH",
        "path": "/v2/projects/acme/profiles/name",
        "query_string": b"key=fw_wrong",
        "headers": [],
        "client": (STRANGER, 4711),
        "scheme": "http",
    }
    asyncio.run(application(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 403
