"""Decoded columns of a section, and the store in which processes share them."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

Arrays = tuple[NDArray[Any], ...]


class DecodedColumns(NamedTuple):
    """Columns in their final form; the arrays are read-only."""

    head: Mapping[str, Any]  # JSON values
    arrays: Arrays
    head_bytes: int = 0  # approximate length of the head as JSON
    is_shared: bool = False  # the arrays are in memory that other processes use too

    @property
    def private_bytes(self) -> int:
        """Return the bytes of the arrays in the process's own memory."""
        return 0 if self.is_shared else sum(array.nbytes for array in self.arrays)


class ColumnStore(Protocol):
    """Decoded columns of one block by name, for all processes of a machine.

    A failure of the store is a miss. Thread-safe.
    """

    def find(self, name: str) -> DecodedColumns | None: ...

    def add(self, name: str, columns: DecodedColumns) -> None:
        """Store columns, now or later."""
