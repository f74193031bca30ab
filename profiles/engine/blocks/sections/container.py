"""Container of named, separately readable sections; see docs/reference/formats.md."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import orjson

from profiles.engine.blocks.sections.decoded_columns import Arrays, ColumnStore, DecodedColumns
from profiles.engine.blocks.sections.packed_columns import PackedColumnReader
from profiles.engine.encoding.compression import (
    CHECKSUM_BYTES,
    DAMAGE,
    checksum,
    compress,
    decompress,
)
from profiles.engine.errors import BadBlock

# Function (offset, length) -> bytes; it may return fewer bytes at the end of the block.
Source = Callable[[int, int], bytes | memoryview]

T = TypeVar("T")

MAGIC = b"fb"
# Version 1 stores mappings as version 1 of stored trees does, and version 2 no start lines.
VERSION = 3
COMPRESSION_LEVEL = 5  # of zstd, for blocks that will not be compacted soon
FIRST_READ = 65_536  # bytes: includes the directory, and for most blocks the section `profiles`
# Approximate bytes of Python objects: for a byte of JSON, and for the arrays of a section.
_JSON_BYTES, _SECTION_BYTES = 8, 1024
_DIRECTORY = "directory"  # name in the column store
_LENGTH_BYTES = 4
_HEADER_BYTES = len(MAGIC) + 2 + _LENGTH_BYTES + CHECKSUM_BYTES


class SectionWriter:
    """Sections of a block that is being encoded, each compressed as soon as it is added."""

    def __init__(self, compression_level: int = COMPRESSION_LEVEL) -> None:
        self._compression_level = compression_level
        self._frames: dict[str, bytes] = {}

    def add(self, name: str, section: bytes) -> None:
        self._frames[name] = compress(section, self._compression_level)

    def add_all(self, sections: Mapping[str, bytes]) -> None:
        for name, section in sections.items():
            self.add(name, section)

    def append(self, others: "SectionWriter") -> None:
        """Add the sections of another writer after those of this one."""
        self._frames.update(others._frames)

    def encode(self, kind: bytes, head: Mapping[str, Any]) -> bytes:
        """Encode the block. `kind` is one byte; `head` may hold any JSON values."""
        entries, offset = {}, 0
        for name, frame in self._frames.items():
            entries[name] = [offset, len(frame), checksum(frame)]
            offset += len(frame)
        directory = orjson.dumps({**head, "sections": entries})
        sums = [number.to_bytes(4, "little") for number in (len(directory), checksum(directory))]
        frames = self._frames.values()
        return b"".join([MAGIC, kind, bytes([VERSION]), *sums, directory, *frames])


class Container:
    """Reader of a block's sections; raises `BadBlock`, naming the section, if it is damaged.

    With a column store, the source is read only for what the store does not have.
    """

    def __init__(
        self,
        source: bytes | memoryview | Source,
        kind: bytes,
        store: ColumnStore | None = None,
    ) -> None:
        self._sizes: dict[str, int] = {}
        self._source = source if callable(source) else _slices(memoryview(source))
        self._kind = kind
        self.store = store
        directory = store.find(_DIRECTORY) if store else None
        if directory is None:
            self._check()
            with self._convert_damage(_DIRECTORY):
                directory = self._directory()
            if store:
                store.add(_DIRECTORY, directory)
        self.head: Mapping[str, Any] = directory.head
        self._entries: Mapping[str, list[int]] = self.head["sections"]
        self._sizes[_DIRECTORY] = _JSON_BYTES * directory.head_bytes

    def with_source(self, source: Source) -> "Container":
        """Return the container with another source of the same bytes."""
        other = shallow_copy(self)
        other._source = source
        return other

    def copy_without_bytes(self) -> "Container":
        """Return the container without any of the block's bytes; `with_source` restores it."""
        other = self.with_source(_no_source)
        vars(other).pop("_first", None)
        return other

    @contextmanager
    def section(self, name: str) -> Iterator[PackedColumnReader]:
        """Open a section for reading; the caller has to read all of its columns."""
        with self._convert_damage(name):
            reader = PackedColumnReader(decompress(self._frame(name)))
            yield reader
            reader.end()

    def read(
        self, name: str, decode: Callable[[PackedColumnReader], Arrays], *, is_kept: bool = True
    ) -> DecodedColumns:
        """Return the columns of a section from the store, else decode them and add them to it.

        `decode` reads all columns, and checks them and the head. With `is_kept`, the caller keeps
        the arrays as long as the block: they count in its size.
        """
        columns = self.store.find(name) if self.store else None
        if columns is None:
            with self.section(name) as reader:
                arrays = decode(reader)
            head = {key: value for key, value in reader.head.items() if key != "columns"}
            for array in arrays:
                array.flags.writeable = False
            columns = DecodedColumns(head, arrays, reader.head_bytes)
            if self.store:
                self.store.add(name, columns)
        if is_kept:
            self._sizes[name] = (
                _SECTION_BYTES + _JSON_BYTES * columns.head_bytes + columns.private_bytes
            )
        return columns

    @property
    def size(self) -> int:
        """Approximate bytes of the process's own memory for all that was read and is kept."""
        first: memoryview | None = vars(self).get("_first")
        return (len(first) if first else 0) + sum([*self._sizes.values()])

    def has(self, name: str) -> bool:
        """Return True if the block has a section of this name."""
        return name in self._entries

    @cached_property
    def _first(self) -> memoryview:
        return memoryview(self._source(0, FIRST_READ))

    @property
    def _begin(self) -> int:
        """Return the offset at which the sections begin."""
        return _HEADER_BYTES + int.from_bytes(self._first[4:8], "little")

    def _check(self) -> None:
        """Check the fixed header."""
        head = bytes(self._first[:_HEADER_BYTES])
        if len(head) < _HEADER_BYTES or head[:2] != MAGIC or head[2:3] != self._kind:
            raise BadBlock(f"Not a block of kind {self._kind.decode()}.")
        if not 1 <= head[3] <= VERSION:
            raise BadBlock(
                f"Unsupported block format version {head[3]}; this server reads versions up to "
                f"{VERSION}."
            )

    def _directory(self) -> DecodedColumns:
        text = self._bytes(_HEADER_BYTES, self._begin - _HEADER_BYTES)
        if checksum(text) != int.from_bytes(self._first[8:_HEADER_BYTES], "little"):
            raise ValueError("checksum mismatch")
        head: dict[str, Any] = orjson.loads(text)
        head["sections"] = dict(head["sections"])
        return DecodedColumns(head, (), len(text))

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
    def _convert_damage(self, section: str) -> Iterator[None]:
        """Convert the exceptions that damage causes to `BadBlock` with the name of the section."""
        try:
            yield
        except DAMAGE as error:
            raise BadBlock(f"Damaged block, section {section}: {error}.") from error


def shallow_copy(original: T) -> T:
    """Copy an object that keeps its state in `__dict__`, in a tenth of the time of copy.copy."""
    other: T = object.__new__(type(original))
    vars(other).update(vars(original))
    return other


def _no_source(_offset: int, _length: int) -> bytes:
    raise ValueError("the block has no source")


def _slices(data: memoryview) -> Source:
    return lambda start, length: data[start : start + length]
