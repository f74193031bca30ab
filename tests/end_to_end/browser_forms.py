"""Browser forms, submitted over HTTP."""

import contextlib
from collections.abc import Iterator

import httpx

from tests.server import PASSWORD, RunningServer


def browser(server: RunningServer) -> httpx.Client:
    headers = {"Referer": server.url, "Origin": server.url}
    return httpx.Client(base_url=server.url, headers=headers, follow_redirects=True, timeout=30)


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """Submit a form with the CSRF token of its page."""
    client.get(path)
    token = client.cookies["csrftoken"]
    return client.post(path, data=fields | {"csrfmiddlewaretoken": token})


@contextlib.contextmanager
def signed_in(server: RunningServer, email: str = "alice@example.org") -> Iterator[httpx.Client]:
    with browser(server) as client:
        response = post(client, "/account/login/", login=email, password=PASSWORD)
        assert response.url.path != "/account/login/", response.text
        yield client
