"""Limits of sign-in attempts per client, behind a proxy on another host."""

import asyncio
import re
from ipaddress import ip_network

import httpx
import pytest
from pytest_django import Settings

from profiler_site.asgi import application
from projects.models import User
from tests.ingest.client import URL

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
PROXY = ("10.0.0.9", 4711)
PASSWORD = "a sentence works well"


async def sign_in(client_ip: str, *attempts: tuple[str, str]) -> list[int]:
    """Try addresses and passwords in order from one client; return the statuses."""
    transport = httpx.ASGITransport(application, client=PROXY)  # type: ignore[arg-type]
    headers = {"X-Forwarded-For": f"198.51.100.7, {client_ip}", "Referer": URL}
    statuses = []
    async with httpx.AsyncClient(transport=transport, base_url=URL, headers=headers) as client:
        page = await client.get("/account/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert token is not None
        for email, password in attempts:
            form = {"csrfmiddlewaretoken": token[1], "login": email, "password": password}
            statuses.append((await client.post("/account/login/", data=form)).status_code)
    return statuses


def attack_and_sign_in() -> int:
    """Fail ten times as one client of the proxy, then sign in as another; return its status."""
    guesses = [(f"user{number}@example.org", "a wrong sentence") for number in range(10)]

    async def both() -> int:
        await sign_in("192.0.2.1", *guesses)
        (status,) = await sign_in("192.0.2.2", ("alice@example.org", PASSWORD))
        return status

    return asyncio.run(both())


def test_bad_attempts_behind_a_trusted_proxy_do_not_lock_out_others(
    alice: User, settings: Settings
) -> None:
    settings.TRUSTED_PROXIES = (ip_network("10.0.0.0/24"),)
    assert attack_and_sign_in() == 302


def test_clients_of_an_unknown_proxy_share_its_limits(alice: User) -> None:
    assert attack_and_sign_in() == 200  # the form again, with the limit
