"""Encoding of call trees as bytes; the format is described in docs/reference/formats.md."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding import stored_tree
from profiles.engine.encoding.compression import (
    CHECKSUM_BYTES,
    DAMAGE,
    Unpacked,
    checksum,
    compress,
    decompress,
    decompress_all,
)
from profiles.engine.encoding.stored_tree import StoredTree, to_columns, to_tree
from profiles.engine.errors import BadTree
from profiles.engine.string_table import StringTable

MAGIC = b"ft\x03"  # the last byte is the version
# Version 1 differs in its mappings: the build id or the path of a binary, not both. They are
# told apart in profiles.engine.pprof.binaries. Version 2 has no start lines of functions.
_READABLE = (b"ft\x01", b"ft\x02", MAGIC)
_LENGTH_BYTES = 4  # of the length of the numbers section


def encode(tree: Tree) -> bytes:
    """Encode a tree."""
    return encode_columns(to_columns(tree))


def encode_columns(columns: StoredTree) -> bytes:
    """Encode the columns of a tree."""
    numbers, texts = (compress(section) for section in stored_tree.write(columns))
    body = len(numbers).to_bytes(_LENGTH_BYTES, "little") + numbers + texts
    return MAGIC + _checksum(body) + body


def decode(data: bytes) -> Tree:
    """Decode a tree. Raise `BadTree` if the bytes are not a stored tree."""
    columns = open_stored(data)
    with reading():
        return to_tree(columns)


def open_stored(data: bytes, labels: bool = True) -> StoredTree:
    """Read and check the columns of an encoded tree. Raise `BadTree` if the bytes are not one.

    The checksum covers the strings, too, although they are decompressed on first use.
    """
    with reading():
        sections = _check(data)
        numbers = decompress(sections.numbers)
        return stored_tree.read(numbers, lambda: decompress(sections.texts), labels)


class Numbers(NamedTuple):
    """Numbers section of an encoded tree; its columns are not checked."""

    head: dict[str, Any]
    data: Unpacked
    offset: int  # of the columns in `data`


def read_numbers(data: bytes) -> Numbers:
    """Read the numbers section only, without arrays. Raise `BadTree` like `open_stored`."""
    try:
        return Numbers(*stored_tree.read_numbers_head(decompress(_check(data).numbers)))
    except DAMAGE as error:
        raise damage_error(error) from error


def read_strings(data: bytes, numbers: Numbers) -> StringTable:
    """Read the strings of the tree with these numbers. Raise `BadTree` like `open_stored`."""
    with reading():
        return stored_tree.read_strings(
            decompress(_check(data).texts), int(numbers.head["strings"])
        )


def read_mappings(data: bytes, numbers: Numbers) -> list[list[int]]:
    """Return [[string, text id], …] of the tree's mappings, in ascending order of string.

    Trees written by older versions have no such list; it is derived from their columns.
    """
    if "mappings" in numbers.head:
        with reading():
            return list(numbers.head["mappings"])
    tree = open_stored(data, labels=False)
    with reading():
        return stored_tree.find_mappings(tree.frames.mapping, tree.strings)


def unpack(trees: Sequence[bytes]) -> list[Numbers | BadTree | None]:
    """Decompress the numbers sections of many trees in one call, ahead of the thread that merges.

    The result has a `BadTree` for each damaged tree, and None for trees that were not decompressed,
    because they are too large together or one of them is damaged.
    """
    found = [_check_or_explain(tree) for tree in trees]
    good = [sections.numbers for sections in found if isinstance(sections, _Sections)]
    try:
        unpacked = iter(decompress_all(good))
    except DAMAGE:  # the thread that adds them finds the damaged one
        return [None] * len(trees)
    return [
        sections if isinstance(sections, BadTree) else _numbers(next(unpacked))
        for sections in found
    ]


def _check_or_explain(data: bytes) -> "_Sections | BadTree":
    try:
        return _check(data)
    except DAMAGE as error:
        return damage_error(error)
    except BadTree as error:
        return error


def _numbers(data: Unpacked) -> Numbers | BadTree:
    try:
        return Numbers(*stored_tree.read_numbers_head(data))
    except DAMAGE as error:
        return damage_error(error)


@contextmanager
def reading() -> Iterator[None]:
    """Turn the exceptions that damaged columns cause into `BadTree`."""
    try:
        yield
    except DAMAGE as error:
        raise damage_error(error) from error


class _Sections(NamedTuple):
    numbers: memoryview
    texts: memoryview


def _check(data: bytes) -> "_Sections":
    if not data.startswith(MAGIC[:2]):
        raise BadTree("Not a stored call tree.")
    if not data.startswith(_READABLE):
        version = int.from_bytes(data[2:3], "big")
        raise BadTree(
            f"Unsupported call tree version {version}; this server reads versions up to {MAGIC[2]}."
        )
    return _sections(data)


def _sections(data: bytes) -> _Sections:
    start = len(MAGIC) + CHECKSUM_BYTES
    body = memoryview(data)[start:]
    if data[len(MAGIC) : start] != _checksum(body):
        raise ValueError("checksum mismatch")
    middle = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    return _Sections(body[_LENGTH_BYTES:middle], body[middle:])


def damage_error(error: Exception) -> BadTree:
    """Return the `BadTree` for an exception that damaged columns caused."""
    return BadTree(f"The stored call tree is damaged: {error}.")


def _checksum(body: bytes | memoryview) -> bytes:
    return checksum(body).to_bytes(CHECKSUM_BYTES, "little")
