"""Address and scheme of clients behind proxies."""

from ipaddress import ip_network
from typing import Any

import pytest
from django.test import RequestFactory
from pytest_django import Settings

from common.client_address import client_address, is_loopback, through_proxies

PROXIES = (ip_network("10.0.0.0/8"), ip_network("2001:db8:1::/48"))


def seen(peer: str, forwarded_for: str = "", proto: str = "") -> tuple[str, str]:
    """Return client and scheme of a request by its peer and headers."""
    headers = [(b"host", b"flamewatch.example.org")]
    headers += [(b"x-forwarded-for", line.encode()) for line in forwarded_for.split("\n") if line]
    headers += [(b"x-forwarded-proto", proto.encode())] if proto else []
    scope: dict[str, Any] = {"type": "http", "client": (peer, 4711), "scheme": "http"}
    resolved = through_proxies(scope | {"headers": headers})
    return client_address(resolved), resolved["scheme"]


@pytest.fixture
def proxies(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = PROXIES


@pytest.mark.usefixtures("proxies")
@pytest.mark.parametrize(
    ("peer", "forwarded_for", "client"),
    [
        ("10.1.2.3", "192.0.2.1", "192.0.2.1"),
        ("10.1.2.3", "192.0.2.1:5000", "192.0.2.1"),
        ("10.1.2.3", "[2001:db8:2::7]:5000", "2001:db8:2::7"),
        ("2001:db8:1::9", "2001:db8:2::7", "2001:db8:2::7"),
        # What the client sent itself is left of its own address.
        ("10.1.2.3", "198.51.100.1, 192.0.2.1", "192.0.2.1"),
        ("10.1.2.3", "10.9.9.9, 192.0.2.1", "192.0.2.1"),
        # Several proxies, in one line or in several.
        ("10.1.2.3", "192.0.2.1, 10.0.0.2, 10.0.0.3", "192.0.2.1"),
        ("10.1.2.3", "198.51.100.1, 192.0.2.1\n10.0.0.2", "192.0.2.1"),
        # A client inside the networks of the proxies.
        ("10.1.2.3", "10.0.0.8", "10.0.0.8"),
        # A proxy that names no address is the last one known.
        ("10.1.2.3", "", "10.1.2.3"),
        ("10.1.2.3", "unknown", "10.1.2.3"),
        ("10.1.2.3", "192.0.2.1, unknown, 10.0.0.2", "10.0.0.2"),
        ("10.1.2.3", "1" * 1000, "10.1.2.3"),
        # Anybody else may send the header too.
        ("192.0.2.9", "198.51.100.1", "192.0.2.9"),
        ("127.0.0.1", "198.51.100.1", "127.0.0.1"),
        # Sockets for both protocols.
        ("::ffff:10.1.2.3", "::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.9", "", "192.0.2.9"),
    ],
)
def test_the_client_is_the_first_from_the_right_that_is_no_proxy(
    peer: str, forwarded_for: str, client: str
) -> None:
    assert seen(peer, forwarded_for) == (client, "http")


@pytest.mark.usefixtures("proxies")
@pytest.mark.parametrize(
    ("peer", "proto", "scheme"),
    [
        ("10.1.2.3", "https", "https"),
        ("10.1.2.3", "HTTPS, http", "https"),
        ("10.1.2.3", "javascript", "http"),
        ("192.0.2.9", "https", "http"),
        ("127.0.0.1", "https", "http"),
    ],
)
def test_forwarded_scheme_is_accepted_from_trusted_proxies_only(
    peer: str, proto: str, scheme: str
) -> None:
    assert seen(peer, proto=proto)[1] == scheme


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_without_the_setting_proxies_on_this_machine_are_trusted(peer: str) -> None:
    assert seen(peer, "192.0.2.1", "https") == ("192.0.2.1", "https")
    assert seen("10.1.2.3", "192.0.2.1", "https") == ("10.1.2.3", "http")


def test_without_the_setting_a_public_https_url_takes_the_scheme_of_any_peer(
    settings: Settings,
) -> None:
    settings.BEHIND_TLS = True
    assert seen("10.1.2.3", "192.0.2.1", "https") == ("10.1.2.3", "https")


def test_requests_of_django_have_the_same_address() -> None:
    assert client_address(RequestFactory(REMOTE_ADDR="::ffff:192.0.2.1").get("/")) == "192.0.2.1"
    assert client_address({"client": None}) == ""
    assert client_address({"client": ("testclient", 1)}) == "testclient"


@pytest.mark.parametrize(("address", "expected"), [("127.1.2.3", True), ("10.0.0.1", False)])
def test_loopback_addresses_are_recognised(address: str, expected: bool) -> None:
    assert is_loopback(address) is expected
    assert not is_loopback("")
