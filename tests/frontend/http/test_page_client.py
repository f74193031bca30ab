"""Client of a page request, and its connection."""

import asyncio
from collections.abc import Hashable

import pytest
from django.test import Client

from common.asgi import AUTHENTICATED, Scope
from frontend.http.page_client import page_client
from projects.models import Project, User

pytestmark = pytest.mark.django_db(transaction=True)


def noted(session: str, path: str = "/") -> list[Hashable]:
    """Return the tenants that a request with this session reports to its connection."""
    tenants: list[Hashable] = []
    scope: Scope = {
        "method": "GET",
        "query_string": b"",
        "path": path,
        "headers": [(b"cookie", f"sessionid={session}".encode())],
        "client": ("192.0.2.7", 5),
        "state": {AUTHENTICATED: tenants.append},
    }
    asyncio.run(page_client(scope))
    return tenants


def test_a_valid_session_authenticates_its_connection(client: Client, alice: User) -> None:
    client.force_login(alice)
    key = str(client.session.session_key)
    user = ("user", alice.pk)
    assert [noted(key), noted(key)] == [[user], [user]], "also from the cache"
    assert noted("x" * 32) == []


def test_session_of_member_is_counted_for_the_project(
    client: Client, alice: User, project: Project
) -> None:
    client.force_login(alice)
    key = str(client.session.session_key)
    assert noted(key, f"/p/{project.project_id}/flame") == [("project", project.pk)]


def test_session_without_a_user_does_not_authenticate_its_connection(client: Client) -> None:
    session = client.session
    session["language"] = "es"
    session.save()
    assert noted(str(session.session_key)) == []


@pytest.mark.parametrize(
    ("method", "path", "query", "needs_server"),
    [
        ("GET", "/p/acme-shop/flame", b"service=shop", False),
        ("HEAD", "/p/acme-shop/flame/tree", b"", False),
        ("GET", "/p/acme-shop/flame", b"service=shop&capture=7", True),
        ("GET", "/p/acme-shop/agents", b"", True),
        ("POST", "/p/acme-shop/flame", b"", True),
    ],
)
def test_only_read_only_pages_run_in_a_worker_process(
    method: str, path: str, query: bytes, needs_server: bool
) -> None:
    scope: Scope = {
        "method": method,
        "path": path,
        "query_string": query,
        "headers": [],
        "client": ("127.0.0.1", 5),
    }
    client = asyncio.run(page_client(scope))
    assert (client.is_query, client.needs_server) == (True, needs_server)
