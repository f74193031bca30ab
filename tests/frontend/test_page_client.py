"""Client of a page request, and its connection."""

import asyncio

import pytest
from django.test import Client

from common.asgi import AUTHENTICATED, Scope
from frontend.page_client import page_client
from projects.models import User

pytestmark = pytest.mark.django_db(transaction=True)


def noted(session: str) -> int:
    """Return how often a request with this session tells its connection of a valid session."""
    calls: list[None] = []
    scope: Scope = {
        "path": "/",
        "headers": [(b"cookie", f"sessionid={session}".encode())],
        "client": ("192.0.2.7", 5),
        "state": {AUTHENTICATED: lambda: calls.append(None)},
    }
    asyncio.run(page_client(scope))
    return len(calls)


def test_a_valid_session_authenticates_its_connection(client: Client, alice: User) -> None:
    client.force_login(alice)
    key = str(client.session.session_key)
    assert [noted(key), noted(key)] == [1, 1], "also from the cache"
    assert noted("x" * 32) == 0


def test_a_session_of_nobody_does_not(client: Client) -> None:
    session = client.session
    session["language"] = "es"
    session.save()
    assert noted(str(session.session_key)) == 0
