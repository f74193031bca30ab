"""Identity of an agent: one process on one host."""

import os
import re
import socket
import uuid
from dataclasses import dataclass

from flamewatch.version import __version__

USER_AGENT = f"flamewatch-python/{__version__}"

_NOT_IN_A_HEADER = re.compile(r"[^!-~]+")
_LONGEST_HOST = 255


@dataclass(frozen=True, slots=True)
class Identity:
    agent: str  # a UUID, new in each process, also in a forked child
    host: str


def new_identity() -> Identity:
    host = _NOT_IN_A_HEADER.sub("-", socket.gethostname())[:_LONGEST_HOST]
    return Identity(str(uuid.UUID(bytes=os.urandom(16), version=4)), host)
