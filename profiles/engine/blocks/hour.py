"""Hour blocks: profiles of one service and type within a time range, each with its values."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block, Sums
from profiles.engine.blocks.metric_columns import add_columns
from profiles.engine.blocks.sections.container import Source
from profiles.engine.blocks.sections.decoded_columns import ColumnStore
from profiles.engine.blocks.sections.identities import Identities, read_identities, read_names
from profiles.engine.blocks.sparse_rows import sum_rows
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.string_table import StringTable

KIND = b"h"


class HourBlock(Block):
    """Block whose rows are profiles."""

    @cached_property
    def identities(self) -> Identities:
        """Return the names, body hashes and time sources of the profiles."""
        with self._container.section("identities") as columns:
            return read_identities(columns, self.count)

    @cached_property
    def names(self) -> StringTable:
        """Return the names of the profiles, which are all that queries need of the identities."""
        return read_names(self._container, self.count)

    def sums(
        self,
        metrics: Sequence[int],
        rows: Rows | None,
        by_function: bool,
        check: Check = never_cancel,
    ) -> Sums:
        """Sum like Block.sums, from the stored sums if all rows are included.

        Stored sums do not mark nodes: all nodes count as having a value. Metrics without stored
        sums, which may exceed 64 bits, are summed from the rows.
        """
        if rows is not None and not rows.all():
            return super().sums(metrics, rows, by_function, check)
        stored = [self.columns.stored[k] for k in metrics]
        if not all(self._container.has(f"sums.{s}") for columns in stored for s in columns):
            # not stored: may exceed 64 bits
            return super().sums(metrics, None, by_function, check)
        return self._read_stored_sums(stored, by_function)

    def _read_stored_sums(self, metrics: Sequence[Sequence[int]], by_function: bool) -> Sums:
        lines = len(self.node_of_line)
        sums = np.zeros((len(metrics), lines), np.int64)
        for row, stored in enumerate(metrics):
            sums[row] = add_columns([self._read_stored_sum(k, lines) for k in stored])
        if not by_function:
            return sums, np.ones(lines, np.uint8)
        nodes = len(self.tree.parent)
        grouped = np.zeros((len(metrics), nodes), np.int64)
        used = np.ones(nodes, np.uint8)
        every, one = np.arange(lines, dtype=np.int32), np.ones(1, np.uint8)
        starts = np.array([0, lines], np.int64)
        for k in range(len(metrics)):
            sum_rows(starts, every, sums[k], one, self.node_of_line, grouped[k], used)
        return grouped, used

    def _read_stored_sum(self, metric: int, lines: int) -> NDArray[np.int64]:
        with self._container.section(f"sums.{metric}") as columns:
            return columns.values(lines)


def open_hour(
    data: bytes | memoryview | Source, profile_type: str = "", store: ColumnStore | None = None
) -> HourBlock:
    """Open an hour block from bytes, or from a function (offset, length) -> bytes that reads them.

    Raise `BadBlock` if the bytes are not an hour block: now, or when a damaged section is first
    read. If `profile_type` is given, metrics get their canonical names, as queries use them.
    `store` has the decoded columns of this block, or gets them.
    """
    return HourBlock(data, KIND, profile_type, store)
