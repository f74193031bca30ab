"""Detection of legacy profiles (gperftools, Java), which `go tool pprof` converts."""

import re
from typing import Literal

from profiles.engine.errors import BadProfile

_TEXT = re.compile(rb"heap profile:|[a-z]+ profile: total \d|--- ?[a-zA-Z]+")
_ORDERS: tuple[Literal["little", "big"], ...] = ("little", "big")
# A gperftools CPU profile starts with the words 0, 3 and 0, then its period; words have 4 or 8
# bytes, in either byte order.
_BINARY = tuple(
    b"".join(word.to_bytes(size, order) for word in (0, 3, 0))
    for size in (4, 8)
    for order in _ORDERS
)
_HEAD = 200  # bytes


def refuse_legacy(raw: bytes) -> None:
    """Raise `BadProfile`, with the command that converts it, if this is a legacy profile."""
    head = raw[:_HEAD]
    if _TEXT.match(head) or head.startswith(_BINARY):
        raise BadProfile(
            "Legacy profile format: only pprof's protocol buffers are supported. "
            "Convert the file with: go tool pprof -proto FILE > out.pb.gz"
        )
