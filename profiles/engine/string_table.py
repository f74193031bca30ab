"""Table of many strings in one UTF-8 buffer, decoded on access."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from profiles.engine.hashing import string_table_ids


class StringTable(Sequence[str]):
    """Strings stored one after the other in `data`; each ends at its offset in `ends`."""

    __slots__ = ("data", "ends")

    def __init__(self, data: bytes | memoryview, ends: NDArray[np.int64]) -> None:
        self.data = data
        self.ends = ends

    @classmethod
    def from_strings(cls, strings: Sequence[str]) -> "StringTable":
        """Return a table of the strings, or `strings` itself if it is a table."""
        if isinstance(strings, cls):
            return strings
        parts = [string.encode() for string in strings]
        return cls(b"".join(parts), np.cumsum([len(part) for part in parts], dtype=np.int64))

    def ids(self) -> NDArray[np.uint64]:
        """Return the 64-bit id of each string."""
        return string_table_ids(self.data, self.ends)

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[str, ...]: ...
    def __getitem__(self, i: int | slice) -> str | tuple[str, ...]:
        if isinstance(i, slice):
            return tuple(self)[i]
        position = range(len(self.ends))[i]
        start = int(self.ends[position - 1]) if position else 0
        return str(self.data[start : int(self.ends[position])], "utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return self.select(np.arange(len(self.ends)))

    def select(self, indexes: NDArray[np.integer[Any]]) -> Iterator[str]:
        """Decode the strings with these indexes, several times faster than one by one."""
        data, starts = bytes(self.data), np.concatenate([np.zeros(1, np.int64), self.ends])
        slices = map(slice, starts[indexes].tolist(), self.ends[indexes].tolist())
        if data.isascii():  # decoded at once: one byte is one character
            return map(data.decode().__getitem__, slices)
        return (data[span].decode("utf-8", "replace") for span in slices)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.data)
