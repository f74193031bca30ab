"""Pyroscope's binary formats `trie` and `tree`.

Both are the nodes of a tree in depth-first order. Each node has the length of its name, the name,
its count and the number of its children; numbers are varints. In a `tree` a node is a function. In
a `trie` the names along a path together are a folded stack, so that a name may end within a
function.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ingest.formats.imported_profile import ImportedProfile
from ingest.formats.pyroscope.counts import CountMeaning
from ingest.formats.pyroscope.stacks import StackCounts
from ingest.formats.work_budget import Work
from profiles.engine.errors import BadProfile, TooLarge

# Nodes take a Python object each. They bound the time to about a second.
MAX_NODES = 500_000
MAX_NAME_BYTES = 4096  # of a function in a trie; the decoder truncates to as many
MAX_NODE_BYTES = 2**20  # of the name of a node, which may have several functions
_MAX_VARINT_BYTES = 10


class _Node(NamedTuple):
    depth: int  # 0: root
    name: bytes
    value: int


class _Path(NamedTuple):
    """State after a node of a trie."""

    functions: int  # number of complete functions on the path
    size: int  # bytes of the path
    partial: int  # position in it of the next function, of which these are the first bytes


def import_trie(body: bytes, meaning: CountMeaning) -> list[ImportedProfile]:
    """Import the format `trie`. Raise BadProfile or TooLarge."""
    counts = StackCounts(meaning, len(body))
    stack: list[int] = []
    text = bytearray()  # the names along the present path
    paths = [_Path(0, 0, 0)]  # before the root, and after each node of the present path
    for depth, name, count in _read_nodes(body):
        del paths[depth + 1 :]
        before = paths[depth]
        del stack[before.functions :], text[before.size :]
        text += name
        start = before.partial
        if b";" in name:
            *complete, _ = bytes(text[start:]).split(b";")
            stack += [counts.location(function) for function in complete if function.strip()]
            start = text.rindex(b";") + 1
        if len(text) - start > MAX_NAME_BYTES:
            raise BadProfile(f"A function of the trie has more than {MAX_NAME_BYTES:,} bytes.")
        paths.append(_Path(len(stack), len(text), start))
        if count:
            counts.budget.spend(Work.NAME_BYTES, len(text) - start)
            partial = bytes(text[start:])
            last = [counts.location(partial)] if partial.strip() else []
            counts.add(stack + last, count)
    return counts.profiles()


def import_tree(body: bytes, meaning: CountMeaning) -> list[ImportedProfile]:
    """Import the format `tree`. Raise BadProfile or TooLarge."""
    counts = StackCounts(meaning, len(body))
    stack: list[int] = []
    for depth, name, count in _read_nodes(body):
        if depth == 0:  # the root, which has no name
            continue
        del stack[depth - 1 :]
        stack.append(counts.location(name))
        counts.add(stack, count)
    return counts.profiles()


def _read_nodes(body: bytes) -> Iterator[_Node]:
    """Yield the nodes; raise BadProfile if the body ends too early, TooLarge above MAX_NODES."""
    children = [1]  # nodes to read at each depth
    offset = nodes = 0
    while children:
        if not children[-1]:
            children.pop()
            continue
        children[-1] -= 1
        nodes += 1
        if nodes > MAX_NODES:
            raise TooLarge("A trie or tree", nodes, MAX_NODES, "nodes")
        size, offset = _read_varint(body, offset)
        if size > MAX_NODE_BYTES:
            raise TooLarge("A node of a trie or tree", size, MAX_NODE_BYTES, "bytes")
        name, offset = body[offset : offset + size], offset + size
        if offset > len(body):
            raise _truncation_error(body)
        count, offset = _read_varint(body, offset)
        below, offset = _read_varint(body, offset)
        yield _Node(len(children) - 1, name, count)
        children.append(below)


def _read_varint(body: bytes, offset: int) -> tuple[int, int]:
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        if offset >= len(body):
            raise _truncation_error(body)
        value |= (body[offset] & 0x7F) << 7 * index
        offset += 1
        if body[offset - 1] < 0x80:
            return value, offset
    raise BadProfile(f"The number at byte {offset - _MAX_VARINT_BYTES:,} has more than 64 bits.")


def _truncation_error(body: bytes) -> BadProfile:
    return BadProfile(
        f"The trie or tree of {len(body):,} bytes is incomplete: a node has more children, or a"
        " longer name, than follow."
    )
