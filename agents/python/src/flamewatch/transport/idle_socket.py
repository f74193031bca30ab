"""Ownership check for the file descriptor of an idle connection.

Some hosts, daemons above all, close every descriptor that they do not know, and the next file that
they open reuses its number. The agent must neither write to that file nor close it.
"""

import os
import socket
from typing import NamedTuple


class SocketIdentity(NamedTuple):
    """Identity of a socket in the kernel, independent of its descriptor number."""

    device: int
    inode: int


def socket_identity(idle_socket: socket.socket) -> SocketIdentity | None:
    """Return the socket's identity, or None if its descriptor is closed."""
    try:
        found = os.fstat(idle_socket.fileno())
    except OSError:
        return None
    return SocketIdentity(found.st_dev, found.st_ino)


def release_socket(idle_socket: socket.socket, identity: SocketIdentity | None) -> None:
    """Close the socket without a shutdown, or only drop its number if it is not the agent's."""
    ours = identity is not None and socket_identity(idle_socket) == identity
    number = idle_socket.detach()
    if ours:
        os.close(number)
