"""Ownership check for the file descriptor of an idle connection.

Some hosts, daemons above all, close every descriptor that they do not know, and the next file that
they open reuses its number. The agent must neither write to that file nor close it.
"""

import os
import socket
from typing import NamedTuple


class Mark(NamedTuple):
    """Identity of a socket in the kernel, independent of its descriptor number."""

    device: int
    inode: int


def mark_of(kept: socket.socket) -> Mark | None:
    """Return the socket's identity, or None if its descriptor is closed."""
    try:
        found = os.fstat(kept.fileno())
    except OSError:
        return None
    return Mark(found.st_dev, found.st_ino)


def let_go(kept: socket.socket, mark: Mark | None) -> None:
    """Close the socket without a shutdown, or only drop its number if it is not the agent's."""
    ours = mark is not None and mark_of(kept) == mark
    number = kept.detach()
    if ours:
        os.close(number)
