"""Connections that use up the file descriptors of the server, while health checks go on."""

import contextlib
import http.client
import json
import resource
import socket
from pathlib import Path

import pytest

from tests.attacks.server import Site

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
MORE = 160  # descriptors that the server may open; a quarter of its limit is reserved
CHECKS = 60


def get(site: Site, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def limit_open_files(site: Site, more: int) -> None:
    """Let the server open at most `more` files beyond those that it has open."""
    allowed = len(list(Path(f"/proc/{site.pid}/fd").iterdir())) + more
    resource.prlimit(site.pid, resource.RLIMIT_NOFILE, (allowed, allowed))


def test_health_checks_get_200_when_descriptors_run_low(site: Site) -> None:
    assert get(site, "/ready") == (200, "ready\n")
    limit_open_files(site, MORE)
    with contextlib.ExitStack() as idle:

        def open_idle(count: int) -> None:
            for _ in range(count):
                idle.enter_context(socket.create_connection(("127.0.0.1", site.port)))

        open_idle(2 * MORE)
        pages = [get(site, path) for path in ("/account/login/", "/v2/projects/-/profiles")]
        statuses = []
        for _ in range(CHECKS):
            open_idle(3)
            statuses += [get(site, path)[0] for path in ("/ok", "/ready")]
    assert statuses == [200] * 2 * CHECKS
    for status, text in pages:
        assert status == 503
        assert "limit of open files" in json.loads(text)["error"]["message"]
    while get(site, "/account/login/")[0] != 200:  # the server may still close connections
        pass
