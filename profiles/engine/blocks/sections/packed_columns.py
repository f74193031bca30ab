"""Columns of integers as bytes after a JSON header; see docs/reference/formats.md.

A number is base + factor × raw, and raw takes as few bytes as the largest value of its column
needs. The first bytes of all numbers are stored together, then all second bytes, and so on: zstd
compresses such byte planes better.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from profiles.engine.encoding.columns import unshuffle, unshuffle_index

Column = NDArray[Any]

ANY = 2**31  # upper bound for columns that are not indexes
MOST_ROWS = 2**27  # rows of one table
_LENGTH_BYTES = 4  # of the header's length
_TESTED_NUMBERS = 64  # for a common factor, before the whole column
_64_BITS = 2**64 - 1


def pack(head: Mapping[str, Any], columns: Sequence[Column]) -> bytes:
    """Encode columns, with a header that may hold any JSON values."""
    packed = [_pack(column) for column in columns]
    text = orjson.dumps({**head, "columns": [code for code, _ in packed]})
    return b"".join(
        [len(text).to_bytes(_LENGTH_BYTES, "little"), text, *(data for _, data in packed)]
    )


def _pack(column: Column) -> tuple[list[int], bytes]:
    """Encode a column: ([width, count, base, factor], bytes)."""
    count = len(column)
    if not count:
        return [0, 0, 0, 1], b""
    if column.dtype.itemsize == 1:
        return [1, count, 0, 1], column.tobytes()
    base = int(column.min())
    raw = column.astype(np.uint64) - np.uint64(base & _64_BITS)
    factor = _common_factor(raw)
    if factor > 1:
        raw //= np.uint64(factor)
    width = (int(raw.max()).bit_length() + 7) // 8
    planes = raw.view(np.uint8).reshape(count, 8)[:, :width].T
    return [width, count, base, factor], planes.tobytes()


def _common_factor(raw: NDArray[np.uint64]) -> int:
    if int(np.gcd.reduce(raw[:_TESTED_NUMBERS])) == 1:
        return 1
    return int(np.gcd.reduce(raw)) or 1


class PackedColumnReader:
    """Reads columns in their stored order. Raise `ValueError` for invalid columns."""

    def __init__(self, data: bytes) -> None:
        start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
        self.head: dict[str, Any] = orjson.loads(data[_LENGTH_BYTES:start])
        self._data = data
        self._offset = start
        self.head_bytes = start - _LENGTH_BYTES
        self._columns = iter(self.head["columns"])
        self._unread = len(self.head["columns"])

    @property
    def has_more(self) -> bool:
        """Return True if there is a column after the last one that was read."""
        return self._unread > 0

    def values(self, count: int | None = None) -> NDArray[np.int64]:
        """Read signed numbers. Raise `ValueError` if `count` is given and differs."""
        return self.ids(count).view(np.int64)

    def ids(self, count: int | None = None) -> NDArray[np.uint64]:
        """Read unsigned 64-bit numbers. Raise `ValueError` if `count` is given and differs."""
        start, width, rows, base, factor = self._next_column(count)
        return unshuffle(self._data, start, rows, width, base, factor)

    def index(self, below: int, count: int | None = None) -> NDArray[np.int32]:
        """Read numbers from 0 to `below` - 1. Raise `ValueError` if one is larger."""
        start, width, rows, base, factor = self._next_column(count)
        return unshuffle_index(self._data, start, rows, width, base, factor, below)

    def starts(self) -> NDArray[np.int64]:
        """Read lengths of groups; return their starts and the end of the last: [groups + 1]."""
        lengths = self.index(ANY)
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        if int(starts[-1]) > MOST_ROWS:
            raise ValueError(f"more than {MOST_ROWS} rows")
        return starts

    def data(self) -> bytes:
        """Read bytes. Raise `ValueError` if the numbers are wider or end beyond the data."""
        start, width, count, _, _ = self._next_column(None)
        if count and width != 1:
            raise ValueError("invalid byte column")
        if start + count > len(self._data):
            raise ValueError("a column ends beyond the data")
        return self._data[start : start + count]

    def end(self) -> None:
        """Raise `ValueError` if bytes remain after the last column that was read."""
        if self._offset != len(self._data):
            raise ValueError(f"{len(self._data) - self._offset} excess bytes")

    def _next_column(self, expected: int | None) -> tuple[int, int, int, int, int]:
        """Return (start, width, count, base, factor) of the next column, the last two unsigned."""
        column = next(self._columns, None)
        if column is None:
            raise ValueError("a column is missing")
        self._unread -= 1
        width, count, base, factor = map(int, column)
        if expected is not None and count != expected:
            raise ValueError(f"a column has {count} rows, its table {expected}")
        start = self._offset
        self._offset += count * width
        return start, width, count, base & _64_BITS, factor & _64_BITS
