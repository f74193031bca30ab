"""Codec: a call tree as bytes and back; docs/reference/formats.md describes them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding import stored_tree
from profiles.engine.encoding.compression import (
    CHECKSUM,
    DAMAGE,
    Unpacked,
    checksum,
    compress,
    decompress,
    decompress_all,
)
from profiles.engine.encoding.stored_tree import StoredTree, columns_of, tree_of
from profiles.engine.errors import BadTree
from profiles.engine.string_table import StringTable

MAGIC = b"ft\x01"  # the last byte is the version
_SIZE = 4  # bytes


def encode(tree: Tree) -> bytes:
    return encode_columns(columns_of(tree))


def encode_columns(columns: StoredTree) -> bytes:
    numbers, texts = (compress(section) for section in stored_tree.write(columns))
    body = len(numbers).to_bytes(_SIZE, "little") + numbers + texts
    return MAGIC + _checksum(body) + body


def decode(data: bytes) -> Tree:
    """The tree that was encoded; BadTree if these bytes are not one."""
    columns = open_stored(data)
    with reading():
        return tree_of(columns)


def open_stored(data: bytes, labels: bool = True) -> StoredTree:
    """The columns of an encoded tree, checked; BadTree if these bytes are not one.

    The checksum covers the strings too, although they are unpacked later.
    """
    with reading():
        sections = _checked(data)
        numbers = decompress(sections.numbers)
        return stored_tree.read(numbers, lambda: decompress(sections.texts), labels)


class Numbers(NamedTuple):
    """The first section of an encoded tree; its columns are not checked."""

    head: dict[str, Any]
    data: Unpacked
    at: int  # where the columns begin


def numbers_of(data: bytes) -> Numbers:
    """For whoever reads the columns without making arrays of them. BadTree as `open_stored`."""
    try:
        return Numbers(*stored_tree.head_of(decompress(_checked(data).numbers)))
    except DAMAGE as error:
        raise damaged(error) from error


def texts_of(data: bytes, numbers: Numbers) -> StringTable:
    """The strings of the tree that has these numbers. BadTree as `open_stored`."""
    with reading():
        return stored_tree.texts_of(decompress(_checked(data).texts), int(numbers.head["strings"]))


def mappings_of(data: bytes, numbers: Numbers) -> list[list[int]]:
    """[[string, id of its text], …] of its mappings, ascending; trees of old do not say them."""
    if "mappings" in numbers.head:
        return list(numbers.head["mappings"])
    tree = open_stored(data, labels=False)
    with reading():
        return stored_tree.mappings_of(tree.mapping, tree.strings)


def unpack(trees: Sequence[bytes]) -> list[Numbers | BadTree | None]:
    """The first sections of many encoded trees, at once: for a thread beside that which adds them.

    BadTree for those that are damaged; None for what is too large to be unpacked ahead.
    """
    found = [_checked_or_bad(tree) for tree in trees]
    good = [sections.numbers for sections in found if isinstance(sections, _Sections)]
    try:
        unpacked = iter(decompress_all(good))
    except DAMAGE:  # who adds them finds which it is
        return [None] * len(trees)
    return [
        sections if isinstance(sections, BadTree) else _numbers(next(unpacked))
        for sections in found
    ]


def _checked_or_bad(data: bytes) -> "_Sections | BadTree":
    try:
        return _checked(data)
    except DAMAGE as error:
        return damaged(error)
    except BadTree as error:
        return error


def _numbers(data: Unpacked) -> Numbers | BadTree:
    try:
        return Numbers(*stored_tree.head_of(data))
    except DAMAGE as error:
        return damaged(error)


@contextmanager
def reading() -> Iterator[None]:
    """What damaged columns raise becomes BadTree."""
    try:
        yield
    except DAMAGE as error:
        raise damaged(error) from error


class _Sections(NamedTuple):
    numbers: memoryview
    texts: memoryview


def _checked(data: bytes) -> "_Sections":
    if not data.startswith(MAGIC[:2]):
        raise BadTree("These bytes are not a stored call tree.")
    if not data.startswith(MAGIC):
        version = int.from_bytes(data[2:3], "big")
        raise BadTree(f"The call tree is of version {version}; this server reads {MAGIC[2]}.")
    return _sections(data)


def _sections(data: bytes) -> _Sections:
    start = len(MAGIC) + CHECKSUM
    body = memoryview(data)[start:]
    if data[len(MAGIC) : start] != _checksum(body):
        raise ValueError("its checksum is wrong")
    middle = _SIZE + int.from_bytes(body[:_SIZE], "little")
    return _Sections(body[_SIZE:middle], body[middle:])


def damaged(error: Exception) -> BadTree:
    """What columns raise that are not what they should be, explained."""
    return BadTree(f"The stored call tree is damaged: {error}.")


def _checksum(body: bytes | memoryview) -> bytes:
    return checksum(body).to_bytes(CHECKSUM, "little")
