"""Limits of unauthenticated connections by address, and of restricted connections."""

from ipaddress import ip_network

import pytest

from common.client_address import LOOPBACK
from profiler_site.process.connection_limits import ConnectionLimits, get_counted_address


class AbortRecorder:
    def __init__(self) -> None:
        self.is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True


def test_connections_are_limited_for_each_address() -> None:
    limits = ConnectionLimits()
    assert [limits.count("192.0.2.1", 2) for _ in range(3)] == [True, True, False]
    assert limits.count("192.0.2.2", 2)


def test_a_connection_that_is_closed_makes_room() -> None:
    limits = ConnectionLimits()
    assert limits.count("192.0.2.1", 1)
    limits.uncount("192.0.2.1")
    assert limits.count("192.0.2.1", 1)
    limits.uncount("192.0.2.1")
    assert not limits._unauthenticated, "an address without connections takes no memory"


def test_the_oldest_restricted_connection_makes_room_for_the_newest() -> None:
    limits = ConnectionLimits()
    opened = [AbortRecorder() for _ in range(4)]
    for connection in opened[:3]:
        limits.restrict(connection, 3)
    limits.unrestrict(opened[1])
    limits.restrict(opened[3], 3)
    assert not any(connection.is_aborted for connection in opened)
    last = AbortRecorder()
    limits.restrict(last, 3)
    assert [connection.is_aborted for connection in opened] == [True, False, False, False]
    assert not last.is_aborted


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", ""),
        ("::1", ""),
        ("::ffff:127.0.0.5", ""),
        ("10.1.2.3", ""),
        ("", ""),
    ],
)
def test_connections_are_counted_by_address_except_those_of_proxies(
    peer: str, address: str
) -> None:
    assert get_counted_address(peer, [*LOOPBACK, ip_network("10.0.0.0/8")]) == address
