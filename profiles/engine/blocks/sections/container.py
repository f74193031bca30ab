"""Container of named, separately readable sections; see docs/reference/formats.md."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import orjson

from profiles.engine.blocks.sections.packed_columns import PackedColumnReader
from profiles.engine.encoding.compression import CHECKSUM, DAMAGE, checksum, compress, decompress
from profiles.engine.errors import BadBlock

# Function (offset, length) -> bytes; it may return fewer bytes at the end of the block.
Source = Callable[[int, int], bytes | memoryview]

T = TypeVar("T")

MAGIC = b"fb"
VERSION = 2  # version 1 differs in its mappings, as that of stored trees
COMPRESSION_LEVEL = 5  # of zstd, for blocks that will not be compacted soon
FIRST_READ = 65_536  # bytes: includes the directory, and for most blocks the section `profiles`
_SIZE = 4
_HEAD = len(MAGIC) + 2 + _SIZE + CHECKSUM


def write(
    kind: bytes,
    head: Mapping[str, Any],
    sections: Mapping[str, bytes],
    compression_level: int = COMPRESSION_LEVEL,
) -> bytes:
    """Encode a block. `kind` is one byte; `head` may hold any JSON values."""
    frames = [compress(section, compression_level) for section in sections.values()]
    entries, offset = {}, 0
    for name, frame in zip(sections, frames, strict=True):
        entries[name] = [offset, len(frame), checksum(frame)]
        offset += len(frame)
    directory = orjson.dumps({**head, "sections": entries})
    sums = [number.to_bytes(4, "little") for number in (len(directory), checksum(directory))]
    return b"".join([MAGIC, kind, bytes([VERSION]), *sums, directory, *frames])


class Container:
    """Reader of a block's sections; raises `BadBlock`, naming the section, if it is damaged."""

    def __init__(self, source: bytes | memoryview | Source, kind: bytes) -> None:
        self._sizes: dict[str, int] = {}
        self._source = source if callable(source) else _slices(memoryview(source))
        self._first = memoryview(self._source(0, FIRST_READ))
        self._begin = self._check(kind)
        with self._name_errors("directory"):
            self.head = self._directory()

    def with_source(self, source: Source) -> "Container":
        """Return the container with another source of the same bytes."""
        other = shallow_copy(self)
        other._source = source
        return other

    @contextmanager
    def section(self, name: str) -> Iterator[PackedColumnReader]:
        """Open a section for reading; the caller has to read all of its columns."""
        with self._name_errors(name):
            unpacker = PackedColumnReader(decompress(self._frame(name)))
            yield unpacker
            unpacker.end()
            self._sizes[name] = unpacker.size

    @property
    def size(self) -> int:
        """Approximate bytes in memory of all sections read so far, if they are cached."""
        return len(self._first) + sum(self._sizes.values())

    def has(self, name: str) -> bool:
        """Return True if the block has a section of this name."""
        return name in self._entries

    def _check(self, kind: bytes) -> int:
        """Check the fixed header and return the offset at which the sections begin."""
        head = bytes(self._first[:_HEAD])
        if len(head) < _HEAD or head[:2] != MAGIC or head[2:3] != kind:
            raise BadBlock(f"Not a block of kind {kind.decode()}.")
        if not 1 <= head[3] <= VERSION:
            raise BadBlock(
                f"Unsupported block format version {head[3]}; this server reads versions up to "
                f"{VERSION}."
            )
        return _HEAD + int.from_bytes(head[4:8], "little")

    def _directory(self) -> dict[str, Any]:
        text = self._bytes(_HEAD, self._begin - _HEAD)
        if checksum(text) != int.from_bytes(self._first[8:_HEAD], "little"):
            raise ValueError("checksum mismatch")
        head: dict[str, Any] = orjson.loads(text)
        self._entries: dict[str, list[int]] = head["sections"]
        return head

    def _frame(self, name: str) -> bytes | memoryview:
        offset, length, expected = map(int, self._entries[name])
        frame = self._bytes(self._begin + offset, length)
        if checksum(frame) != expected:
            raise ValueError("checksum mismatch")
        return frame

    def _bytes(self, offset: int, length: int) -> bytes | memoryview:
        if offset < 0 or length < 0:
            raise ValueError("invalid offset or length")
        if offset + length <= len(self._first):
            return self._first[offset : offset + length]
        data = self._source(offset, length)
        if len(data) != length:
            raise ValueError(f"truncated: {len(data)} of {length} bytes")
        return data

    @contextmanager
    def _name_errors(self, section: str) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            raise BadBlock(f"Damaged block, section {section}: {error}.") from error


def shallow_copy(original: T) -> T:
    """Copy an object that keeps its state in `__dict__`, in a tenth of the time of copy.copy."""
    other: T = object.__new__(type(original))
    vars(other).update(vars(original))
    return other


def _slices(data: memoryview) -> Source:
    return lambda start, length: data[start : start + length]
