"""Limits of connections: unauthenticated ones by client address, and restricted ones in all."""

from collections import Counter
from collections.abc import Iterable
from ipaddress import IPv6Address, IPv6Network
from typing import Protocol

from common.client_address import Network, is_in_networks, parse_address

# One client of IPv6 has a whole network of this size.
_IPV6_PREFIX = 64


class Abortable(Protocol):
    """Connection that can be closed at once."""

    def abort(self) -> None: ...


class AddressCounts:
    """Unauthenticated connections or requests by client address. Not thread-safe."""

    def __init__(self) -> None:
        self._unauthenticated: Counter[str] = Counter()  # by address, without zeros

    def count(self, address: str, allowed: int) -> bool:
        """Count one of an address, and return True.

        Return False, without counting it, if the address has `allowed` already.
        """
        if self._unauthenticated[address] >= allowed:
            return False
        self._unauthenticated[address] += 1
        return True

    def uncount(self, address: str) -> None:
        """Undo `count`: the client has authenticated, or the connection or request has ended."""
        self._unauthenticated[address] -= 1
        if not self._unauthenticated[address]:
            del self._unauthenticated[address]


class ConnectionLimits(AddressCounts):
    """Open connections that count towards a limit. Not thread-safe: use from one event loop only.

    A restricted connection is one above a limit: it may ask for the process's health, and is
    answered with an error otherwise.
    """

    def __init__(self) -> None:
        super().__init__()
        self._restricted: dict[Abortable, None] = {}  # oldest first

    def restrict(self, connection: Abortable, allowed: int) -> None:
        """Register a restricted connection, and abort the oldest ones above `allowed`."""
        self._restricted[connection] = None
        while len(self._restricted) > max(1, allowed):
            oldest = next(iter(self._restricted))
            del self._restricted[oldest]
            oldest.abort()

    def unrestrict(self, connection: Abortable) -> None:
        """Remove a restricted connection that is closed."""
        self._restricted.pop(connection, None)


def get_counted_address(peer: str, exempt: Iterable[Network]) -> str:
    """Return the address or, for IPv6, the network by which a peer's connections are counted.

    Return "" for peers that are not counted: those in the networks `exempt`, and Unix sockets.
    """
    address = parse_address(peer.partition("%")[0])
    if address is None or is_in_networks(address, exempt):
        return ""
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), _IPV6_PREFIX), strict=False))
    return str(address)
