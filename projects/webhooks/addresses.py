"""Addresses to which webhooks may connect.

The addresses of a host name are checked, and the connection goes to one of the checked ones: a
second look-up could return another address (DNS rebinding).
"""

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from django.conf import settings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
MAX_URL = 1000  # characters


class ForbiddenAddress(ValueError):
    """URL or address to which this server sends nothing; the text says why."""


def check_url(url: str) -> None:
    """Raise ForbiddenAddress for a URL that can be no webhook, without looking its host up."""
    if len(url) > MAX_URL:
        raise ForbiddenAddress(f"The URL has {len(url):,} characters; {MAX_URL} are allowed.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForbiddenAddress(f"The URL is invalid: {error}.") from None
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ForbiddenAddress("The URL has characters that must be encoded.")
    schemes = {"https", "http"} if settings.WEBHOOK_ALLOWED_NETWORKS else {"https"}
    if parts.scheme not in schemes or not parts.hostname:
        raise ForbiddenAddress("The URL must begin with https:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise ForbiddenAddress("The URL must not have a user name or password.")
    if port == 0:
        raise ForbiddenAddress("The URL has the port 0.")


def resolve(host: str, port: int) -> list[Address]:
    """Return the allowed addresses of a host.

    Raise ForbiddenAddress if one of them is not allowed, and OSError if there is none.
    """
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(row[4][0]) for row in rows]
    for address in addresses:
        if not is_allowed(address, settings.WEBHOOK_ALLOWED_NETWORKS):
            raise ForbiddenAddress(
                f"{host} has the address {address}, which is not public. The operator can allow its"
                " network with FLAMEWATCH_WEBHOOK_ALLOWED_NETWORKS."
            )
    return addresses


def is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Return True for a public address, and for one in the allowed networks."""
    inner = _unwrap(address)
    if any(inner in network for network in networks):
        return True
    return inner.is_global and not inner.is_multicast and not inner.is_reserved


def _unwrap(address: Address) -> Address:
    """Return the IPv4 address to which a translated or tunnelled IPv6 address leads."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour or address
