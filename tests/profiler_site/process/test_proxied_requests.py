"""Limit of unauthenticated requests in progress of each client behind a trusted proxy."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest
from pytest_django import Settings

from endpoints.error_responses import RETRY_INFO
from profiler_site.process import proxied_requests
from projects.models import Project
from projects.usage import rejections
from projects.usage.rejections import RejectionReason
from tests.endpoints.asgi import Scope, post, respond
from tests.ingest.client import Client

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
ALLOWED = 2
PROXY, CLIENT, OTHER = "10.0.0.9", "192.0.2.7", "192.0.2.8"


@pytest.fixture(autouse=True)
def limits(settings: Settings) -> Iterator[None]:
    settings.MAX_UNAUTHENTICATED_CONNECTIONS = ALLOWED
    settings.TRUSTED_PROXIES = (ip_network("10.0.0.0/24"),)
    yield
    assert not proxied_requests.requests._unauthenticated, "all requests have ended"


@pytest.fixture
def nobody(project: Project) -> Client:
    """Return a client without a key."""
    return Client(project.project_id)


def request(client: Client, path: str = "", address: str = CLIENT, peer: str = PROXY) -> Scope:
    return post(client, path or client.profiles, {}, peer=peer, X_Forwarded_For=address)


@asynccontextmanager
async def in_progress(*scopes: Scope) -> AsyncIterator[None]:
    """Send requests whose bodies arrive when the block ends."""
    arrive = asyncio.Event()
    pending = [asyncio.create_task(respond(scope, arrive)) for scope in scopes]
    await asyncio.sleep(0)
    yield
    arrive.set()
    assert {status for status, _ in await asyncio.gather(*pending)} <= {400, 401}


async def test_one_request_too_many_of_an_address_is_503(nobody: Client) -> None:
    before = rejections.totals()[RejectionReason.CONNECTIONS_PER_ADDRESS]
    async with in_progress(*[request(nobody)] * ALLOWED):
        status, body = await respond(request(nobody))
        error = json.loads(body)["error"]
        assert (status, error["status"]) == (503, "UNAVAILABLE")
        assert "FLAMEWATCH_MAX_UNAUTHENTICATED_CONNECTIONS allows 2 requests" in error["message"]
        assert CLIENT in error["message"]
        assert error["details"][0]["@type"] == RETRY_INFO
        assert (await respond(request(nobody, address=OTHER)))[0] == 401
    assert rejections.totals()[RejectionReason.CONNECTIONS_PER_ADDRESS] == before + 1
    assert (await respond(request(nobody)))[0] == 401


@pytest.mark.parametrize("path", ["/account/login/", "/api/v1/projects/-/tree", "/static/x.css"])
async def test_all_urls_count(path: str, nobody: Client) -> None:
    async with in_progress(*[request(nobody)] * ALLOWED):
        assert (await respond(request(nobody, path)))[0] == 503


@pytest.mark.parametrize("path", ["/ok", "/ready"])
async def test_health_checks_do_not_count(path: str, nobody: Client) -> None:
    async with in_progress(*[request(nobody)] * ALLOWED):
        assert (await respond(request(nobody, path)))[0] == 200


async def test_a_request_with_a_valid_key_does_not_count(nobody: Client, agent: Client) -> None:
    await respond(request(agent))  # caches the key
    async with in_progress(*[request(agent)] * 2 * ALLOWED):
        assert (await respond(request(nobody)))[0] == 401
    invalid = Client(agent.project, "fw_invalid")
    async with in_progress(*[request(invalid)] * ALLOWED):
        assert (await respond(request(nobody)))[0] == 503


@pytest.mark.parametrize(("address", "peer"), [("10.0.0.7", PROXY), (OTHER, CLIENT)])
async def test_requests_of_the_proxies_and_past_them_do_not_count(
    address: str, peer: str, nobody: Client
) -> None:
    """Connections of clients that use no proxy are counted instead."""
    async with in_progress(*[request(nobody, address=address, peer=peer)] * 2 * ALLOWED):
        assert (await respond(request(nobody, address=address, peer=peer)))[0] == 401
