"""Reference for the ids of docs/decisions/0003-ids.md in plain Python."""

from collections.abc import Iterable
from functools import cache

GOLDEN = 0x9E3779B97F4A7C15
ALL = 2**64 - 1


def mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & ALL
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & ALL
    return x ^ (x >> 31)


def pair(first: int, second: int) -> int:
    return mix((first * GOLDEN + second) & ALL)


def text_id(text: str) -> int:
    data = text.encode()
    h = GOLDEN ^ len(data)
    for at in range(0, len(data) // 8 * 8, 8):
        h = mix(h ^ int.from_bytes(data[at : at + 8], "little"))
    return mix(h ^ int.from_bytes(data[len(data) // 8 * 8 :], "little"))


@cache
def frame_id(name: str, file: str, line: int) -> int:
    return pair(pair(text_id(name), text_id(file)), line)


def node_id(path: Iterable[tuple[str, str, int]]) -> int:
    """Return the id of the node at the end of a path of frames, root first."""
    node = 0
    for frame in path:
        node = pair(node, frame_id(*frame))
    return node
