"""Browser forms, submitted over HTTP."""

import contextlib
from collections.abc import Iterator

import httpx

from tests.server import PASSWORD, RunningServer


def browser(server: RunningServer, address: str = "") -> httpx.Client:
    """Return a client; with an address it comes through a proxy, with limits of its own."""
    headers = {"Referer": server.url, "Origin": server.url}
    if address:
        headers["X-Forwarded-For"] = address
    return httpx.Client(base_url=server.url, headers=headers, follow_redirects=True, timeout=30)


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    """Submit a form with the CSRF token of its page."""
    client.get(path)
    token = client.cookies["csrftoken"]
    return client.post(path, data=fields | {"csrfmiddlewaretoken": token})


@contextlib.contextmanager
def signed_in(
    server: RunningServer, email: str = "alice@example.org", address: str = ""
) -> Iterator[httpx.Client]:
    with browser(server, address) as client:
        response = post(client, "/account/login/", login=email, password=PASSWORD)
        assert response.url.path != "/account/login/", response.text
        yield client
