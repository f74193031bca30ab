"""Columns of integers as bytes after a JSON header, each in the narrowest sufficient width."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from profiles.engine.encoding.columns import pack_columns, widen
from profiles.engine.encoding.compression import Unpacked

Column = NDArray[Any]

ANY = 2**31  # upper bound for columns that are not indexes
_UNSIGNED = {width: np.dtype(f"<u{width}") for width in (1, 2, 4, 8)}
_SIGNED = -8  # the code of int64
_SIZE = 4  # bytes of the header's length


def join(head: Mapping[str, Any], columns: Sequence[Column]) -> bytes:
    """Encode columns, with a header that may hold any JSON values."""
    codes, data = pack_columns([np.ascontiguousarray(column) for column in columns])
    text = orjson.dumps({**head, "columns": codes})
    return b"".join([len(text).to_bytes(_SIZE, "little"), text, data.data])


def read_head(data: Unpacked) -> tuple[dict[str, Any], int]:
    """Return the header, and the offset of the columns."""
    view = memoryview(data)
    start = _SIZE + int.from_bytes(view[:_SIZE], "little")
    return orjson.loads(view[_SIZE:start]), start


class ColumnReader:
    """Reads columns in their stored order. Raise `ValueError` for invalid columns."""

    def __init__(self, data: Unpacked, head: tuple[dict[str, Any], int] | None = None) -> None:
        """Read the header of the data, unless `head` is the result of `read_head` for them."""
        self.head, self.at = head or read_head(data)
        self._data = data
        self._columns = iter(self.head["columns"])
        self._unread = len(self.head["columns"])

    @property
    def has_more(self) -> bool:
        """Return True if there is a column after the last one that was read."""
        return self._unread > 0

    def index(self, below: int) -> NDArray[np.int32]:
        """Read numbers from 0 to `below` - 1. Raise `ValueError` if one is larger."""
        width, count = self._next()
        column = widen(self._data, self.at, count, width, below)
        self.at += count * width
        return column

    def ids(self) -> NDArray[np.uint64]:
        """Read unsigned 64-bit numbers."""
        return self._numbers().astype(np.uint64)

    def values(self, count: int, factors: Sequence[int]) -> NDArray[np.int64]:
        """Read a column for each factor, multiplied by it modulo 2^64: int64 [factors, count]."""
        rows = np.empty((len(factors), count), np.int64)
        for k, factor in enumerate(factors):
            rows[k] = self._numbers()
            if factor != 1:
                rows[k] *= factor
        return rows

    def data(self) -> bytes:
        """Read a column of bytes."""
        return self._numbers().astype(np.uint8).tobytes()

    def skip(self, columns: int) -> None:
        for _ in range(columns):
            code, count = self._next()
            self.at += abs(code) * count

    def end(self) -> None:
        """Raise `ValueError` if bytes remain after the last column that was read."""
        if self.at != len(self._data):
            raise ValueError(f"{len(self._data) - self.at} excess bytes")

    def _numbers(self) -> Column:
        code, count = self._next()
        dtype = np.dtype("<i8") if code == _SIGNED else _UNSIGNED[code]
        column: Column = np.frombuffer(self._data, dtype, count, self.at)
        self.at += count * dtype.itemsize
        return column

    def _next(self) -> tuple[int, int]:
        column = next(self._columns, None)
        if column is None:
            raise ValueError("a column is missing")
        self._unread -= 1
        code, count = column
        return int(code), int(count)
