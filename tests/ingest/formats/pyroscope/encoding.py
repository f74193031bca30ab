"""Encoders of Pyroscope's formats trie and tree, for stacks of functions, root first."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.ingest.pprof import varint

Stacks = Mapping[tuple[str, ...], int]


@dataclass
class _Branch:
    count: int = 0
    children: dict[str, "_Branch"] = field(default_factory=dict)


def tree(stacks: Stacks) -> bytes:
    """Encode a tree: a node for each function."""
    return _encode("", _grown([([*stack], count) for stack, count in stacks.items()]))


def trie(stacks: Stacks, size: int = 3) -> bytes:
    """Encode a trie of folded stacks, cut into names of `size` characters."""
    pieces = []
    for stack, count in stacks.items():
        text = ";".join(stack)
        pieces.append(([text[at : at + size] for at in range(0, len(text), size)], count))
    return _encode("", _grown(pieces))


def folded(stacks: Stacks) -> bytes:
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in stacks.items()).encode()


def _grown(paths: list[tuple[list[str], int]]) -> _Branch:
    root = _Branch()
    for path, count in paths:
        node = root
        for name in path:
            node = node.children.setdefault(name, _Branch())
        node.count += count
    return root


def _encode(name: str, node: _Branch) -> bytes:
    """Encode a node and its children, depth first."""
    text = name.encode()
    head = varint(len(text)) + text + varint(node.count) + varint(len(node.children))
    return head + b"".join(_encode(child, below) for child, below in node.children.items())
