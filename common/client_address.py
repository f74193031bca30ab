"""Address and scheme of a request's client, also behind proxies that are trusted.

Each proxy appends the address of its own client to X-Forwarded-For. The list is therefore read from
the right, up to the first address that is no trusted proxy: the rest was sent by that client.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from django.conf import settings
from django.http import HttpRequest

from common.asgi import Scope

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1"))
_FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-proto"})
_LONGEST = 64  # characters of an address with its port
_CACHED = 4096  # addresses


def client_address(request: Scope | HttpRequest) -> str:
    """Return the address of the client, "" if it is unknown; IPv4 in its own notation.

    All code that needs the address calls this function. The scope has to be the result of
    `through_proxies`, from which Django makes its requests.
    """
    if isinstance(request, dict):
        client = request.get("client")
        text = str(client[0]) if client else ""
    else:  # Django's request, or the one of REST framework, which is no subclass
        text = str(request.META.get("REMOTE_ADDR", ""))
    address = parse_address(text)
    return text if address is None else str(address)


def is_loopback(address: str) -> bool:
    parsed = parse_address(address)
    return parsed is not None and is_in_networks(parsed, LOOPBACK)


def through_proxies(scope: Scope) -> Scope:
    """Return the scope with the client and the scheme that trusted proxies report.

    settings.TRUSTED_PROXIES has their networks. Without it, proxies on this machine are trusted,
    and with a public https URL the scheme of any peer: a peer that claims https wrongly only
    foregoes the redirect to it.
    """
    if not any(name in _FORWARDED for name, _ in scope["headers"]):
        return scope  # of most agents, whose requests should not cost parsing their address
    proxies = settings.TRUSTED_PROXIES or LOOPBACK
    client = scope.get("client")
    peer = parse_address(str(client[0])) if client else None
    is_trusted = peer is not None and is_in_networks(peer, proxies)
    found = dict[str, object]()
    if is_trusted or (settings.BEHIND_TLS and not settings.TRUSTED_PROXIES):
        scheme = _header(scope, b"x-forwarded-proto").partition(",")[0].strip().lower()
        if scheme in {"http", "https"}:
            found["scheme"] = scheme
    if peer is not None and is_trusted:
        first = _first_untrusted(peer, _header(scope, b"x-forwarded-for"), proxies)
        if first != peer:
            found["client"] = (str(first), 0)
    return {**scope, **found} if found else scope


def _first_untrusted(peer: Address, forwarded_for: str, proxies: Sequence[Network]) -> Address:
    """Return the client of the outermost trusted proxy; that proxy if it names no address."""
    address = peer
    for text in reversed(forwarded_for.split(",")):
        hop = parse_address(text)
        if hop is None:
            break
        address = hop
        if not is_in_networks(hop, proxies):
            break
    return address


def _header(scope: Scope, name: bytes) -> str:
    values = [value for key, value in scope["headers"] if key == name]
    return b",".join(values).decode("latin-1")


def parse_address(text: str) -> Address | None:
    """Parse `address`, `address:port` or `[address]:port`; None for anything else."""
    return None if len(text) > _LONGEST else _parse_short(text.strip())


@lru_cache(_CACHED)
def _parse_short(text: str) -> Address | None:
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A socket for both protocols shows IPv4 peers as ::ffff:192.0.2.1.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def is_in_networks(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)
