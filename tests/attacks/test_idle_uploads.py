"""Announced uploads whose body does not arrive, and request heads without an end."""

import contextlib
import socket
import time

import pytest

from common.request_body import WINDOW_SECONDS
from profiler_site.process.http_protocol import HEAD_SECONDS
from tests.attacks.bounds import Bounds, measure
from tests.attacks.server import Site

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]
ANNOUNCED = 22_369_621  # the limit of an upload's body, in bytes
LATER = 10.0  # seconds of tolerance for a loaded machine


def announce(site: Site, path: str, sent: bytes = b"") -> socket.socket:
    """Open a connection with the head of a request and the first `sent` bytes of its body."""
    head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {ANNOUNCED}"]
    head += [f"{name}: {value}" for name, value in site.attacker.headers.items()]
    connection = socket.create_connection(("127.0.0.1", site.port))
    connection.sendall("\r\n".join([*head, "", ""]).encode() + sent)
    return connection


def receive_response(connection: socket.socket, seconds: float) -> bytes:
    """Return what the server sends before it closes the connection or `seconds` have passed."""
    connection.settimeout(seconds)
    text = b""
    with contextlib.suppress(TimeoutError, ConnectionError):
        while piece := connection.recv(2**16):
            text += piece
            if b"\r\n\r\n" in text and text.endswith(b"}"):
                break
    return text


def test_twelve_idle_uploads_cost_the_neighbour_nothing(site: Site) -> None:
    path = f"{site.attacker.profiles}:createOffline"
    said: list[bytes] = []

    def attack(site: Site) -> None:
        idle = [announce(site, path) for _ in range(12)]
        began = time.monotonic()
        said.extend(receive_response(each, WINDOW_SECONDS + LATER) for each in idle)
        assert time.monotonic() - began < WINDOW_SECONDS + LATER
        for each in idle:
            each.close()

    measure(site, attack).check(Bounds(memory=64 * 2**20))
    assert all(b" 408 " in text for text in said)
    assert all(b"too slow: received 0 bytes" in text and b"RetryInfo" in text for text in said)


def test_a_project_that_sends_much_at_once_fills_its_own_share_only(site: Site) -> None:
    path = f"{site.attacker.profiles}:createOffline"
    said: list[bytes] = []

    def attack(site: Site) -> None:
        """Send most of each body, then stop."""
        half = [announce(site, path) for _ in range(12)]
        for each in half:
            each.settimeout(30)
            with contextlib.suppress(OSError):
                each.sendall(b"x" * (ANNOUNCED - 2**20))
        said.extend(receive_response(each, WINDOW_SECONDS + LATER) for each in half)
        for each in half:
            each.close()

    measure(site, attack).check(Bounds(memory=192 * 2**20))
    assert any(
        b" 503 " in text and b"the limit of a project is 67,108,864" in text for text in said
    )
    assert all(b" 503 " in text or b" 408 " in text for text in said)


def test_thousands_of_half_heads_cost_the_neighbour_nothing(site: Site) -> None:
    def attack(site: Site) -> None:
        half = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(2000)]
        for each in half:
            each.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ")
        began = time.monotonic()
        assert all(receive_response(each, HEAD_SECONDS + LATER) == b"" for each in half)
        assert time.monotonic() - began < HEAD_SECONDS + LATER
        for each in half:
            each.close()

    measure(site, attack).check(Bounds(memory=64 * 2**20))
