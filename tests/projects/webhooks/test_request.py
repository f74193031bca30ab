"""Requests to webhooks: forbidden addresses, redirects, slow and huge responses, TLS."""

import ipaddress
import socket
import ssl
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from pytest_django import Settings

from projects.webhooks.addresses import ForbiddenAddress, check_url, is_allowed
from projects.webhooks.request import WebhookResponse, post
from tests.projects.webhooks.receiver import free_port, receiver, reply

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture(autouse=True)
def loopback_allowed(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0"),
        *("169.254.169.254", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1"),
        *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a00:1", "64:ff9b::7f00:1"),
        *("2002:7f00:1::", "2002:a9fe:a9fe::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    ],
)
def test_addresses_that_are_not_public_are_forbidden(address: str) -> None:
    assert not is_allowed(ipaddress.ip_address(address), ())


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(ipaddress.ip_address(address), ())


def test_operator_allows_networks(settings: Settings) -> None:
    networks = (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8"))
    assert is_allowed(ipaddress.ip_address("10.1.2.3"), networks)
    assert is_allowed(ipaddress.ip_address("::ffff:10.1.2.3"), networks)
    assert is_allowed(ipaddress.ip_address("fd00::1"), networks)
    assert not is_allowed(ipaddress.ip_address("192.168.1.1"), networks)


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://example.org/", "https://"),
        ("ftp://example.org/", "https://"),
        ("https:///path", "name a host"),
        ("example.org/hook", "https://"),
        ("https://user@example.org/", "user name"),
        ("https://user:secret@example.org/", "user name"),
        ("https://example.org:99999/", "invalid"),
        ("https://example.org:0/", "port 0"),
        ("https://example.org/\r\nX-Injected: 1", "encoded"),
        ("https://example.org/a b", "encoded"),
        ("https://exämple.org/", "encoded"),
        (f"https://example.org/{'x' * 1000}", "1000 are allowed"),
    ],
)
def test_bad_urls_are_rejected(url: str, word: str, settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    with pytest.raises(ForbiddenAddress, match=word):
        check_url(url)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"]
)
def test_private_hosts_get_no_connection(host: str, settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    with receiver(reply(200)) as received:
        outcome = post(f"https://{host}:{received.port}/", b"{}", {})
        assert "not public" in outcome.problem
        assert received.requests == []


def test_connection_goes_to_the_checked_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a name lead to loopback in the first look-up, and elsewhere in any other."""
    looked_up: list[str] = []

    def getaddrinfo(host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        if host != "rebind.example":
            return original(host, port, *args, **options)
        looked_up.append(host)
        address = "127.0.0.1" if len(looked_up) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    original = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with receiver(reply(200)) as received:
        assert post(f"http://rebind.example:{received.port}/", b"{}", {}).status == 200
        [(_path, headers, _body)] = received.requests
    assert looked_up == ["rebind.example"]
    assert headers["host"] == f"rebind.example:{received.port}"


def test_one_private_address_of_several_forbids_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        addresses = ("127.0.0.1", "10.0.0.1")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert "10.0.0.1" in post("http://mixed.example/", b"{}", {}).problem


@pytest.mark.slow
def test_redirects_are_not_followed() -> None:
    with (
        receiver(reply(200)) as other,
        receiver(reply(302, b"", Location=other.url)) as received,
    ):
        assert post(received.url, b"{}", {}).status == 302
        assert len(received.requests) == 1
        assert other.requests == []


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with receiver(reply(204, b"")) as received:
        assert post(received.url, b"{}", {}).status == 204
        assert received.requests[0][0] == "/hook?token=t"


def _drip_header(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    _drip(handler, b"X-Slow: 1\r\n")


def _drip_body(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
    _drip(handler, b"x")


def _drip(handler: BaseHTTPRequestHandler, part: bytes) -> None:
    for _ in range(200):
        handler.wfile.write(part)
        handler.wfile.flush()
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("respond", [_drip_header, _drip_body])
def test_slow_response_ends_at_the_deadline(respond: Any) -> None:
    with receiver(respond) as received:
        outcome = post(received.url, b"{}", {}, seconds=0.5)
    assert outcome == WebhookResponse(problem="No complete response within 0.5 seconds.")


def test_huge_response_is_read_in_part() -> None:
    with receiver(reply(200, b"y" * 5_000_000)) as received:
        outcome = post(received.url, b"{}", {})
    assert outcome.status == 200
    assert outcome.reply == "y" * 300


@pytest.mark.slow
def test_lost_connection_and_garbage_are_problems() -> None:
    outcome = post(f"http://127.0.0.1:{free_port()}/", b"{}", {})
    assert "refused" in outcome.problem
    with receiver(lambda handler: None) as received:
        assert post(received.url, b"{}", {}).problem.startswith("The request failed")
    with receiver(_write_garbage) as received:
        assert post(received.url, b"{}", {}).problem.startswith("The request failed")
    assert "failed" in post("http://no-such-host.invalid/", b"{}", {}).problem


def _write_garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x00\xff nonsense\r\n\r\n")


def test_certificate_is_verified() -> None:
    with receiver(reply(200)) as received:
        outcome = post(received.url.replace("http://", "https://"), b"{}", {})
    assert outcome.problem.startswith("TLS failed")
    assert ssl.create_default_context().verify_mode is ssl.CERT_REQUIRED
