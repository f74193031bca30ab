"""Is a kept socket still ours?

Some hosts close every descriptor that they don't know (daemons, above all), and the next file that
they open has our number. Nothing may be written to it then, and it must not be closed.
"""

import os
import socket
from typing import NamedTuple


class Mark(NamedTuple):
    """What the kernel calls a socket, whatever number it goes by."""

    device: int
    inode: int


def mark_of(kept: socket.socket) -> Mark | None:
    """None if its number is nobody's any more."""
    try:
        found = os.fstat(kept.fileno())
    except OSError:
        return None
    return Mark(found.st_dev, found.st_ino)


def let_go(kept: socket.socket, mark: Mark | None) -> None:
    """Close it without a word to the peer if it is ours; forget the number if not."""
    ours = mark is not None and mark_of(kept) == mark
    number = kept.detach()
    if ours:
        os.close(number)
