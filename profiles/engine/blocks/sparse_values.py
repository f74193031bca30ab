"""Sparse values of rows (profiles or groups of profiles) at line nodes, in chunks of rows.

A chunk has one section with the nodes of each of its rows, and one section of values for each
metric, so that a query reads only the metrics that it needs. The sections are named `cells…`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.metric_columns import MetricColumns, add_columns
from profiles.engine.blocks.sections.container import Container, SectionWriter, shallow_copy
from profiles.engine.blocks.sections.decoded_columns import Arrays, DecodedColumns
from profiles.engine.blocks.sections.packed_columns import MOST_ROWS, PackedColumnReader, pack
from profiles.engine.blocks.sparse_rows import decode_nodes, sum_rows
from profiles.engine.cancellation import Check, never_cancel

CHUNK_ROWS = 256
# Small profiles share larger chunks: reading many small sections takes longer than adding up what
# is in them. This many values are some 400 KiB in the block.
FULL_CHUNK_VALUES = 2**18
# A chunk ends with the row that exceeds this many numbers of all metrics together: 4 MiB, decoded.
MAX_CHUNK_NUMBERS = 2**19
MAX_SUM = 2**63 - 1
_LOW_32_BITS = np.uint64(2**32 - 1)

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SparseValues:
    """Sparse values of R rows: row r has the values starts[r] to starts[r + 1], sorted by node."""

    starts: NDArray[np.int64]  # [R + 1]
    node: NDArray[np.int32]  # [C], line nodes
    values: NDArray[np.int64]  # [K, C]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Range of rows that is stored together."""

    number: int
    first: int  # row
    last: int  # the row after its last


def cut(starts: NDArray[np.int64], metrics: int) -> list[int]:
    """Return the first row of each chunk, followed by the number of rows."""
    rows, cuts = len(starts) - 1, [0]
    max_values = MAX_CHUNK_NUMBERS // max(1, metrics)
    while cuts[-1] < rows:
        first = cuts[-1]
        full, most = np.searchsorted(
            starts, [starts[first] + FULL_CHUNK_VALUES, starts[first] + max_values]
        ).tolist()
        cuts.append(min(max(first + CHUNK_ROWS, full), max(most, first + 1), rows))
    return cuts


def check_cuts(cuts: Sequence[int], rows: int) -> None:
    """Raise `ValueError` if the chunks are not a division of at most MOST_ROWS rows."""
    if not 0 <= rows <= MOST_ROWS or cuts[:1] != [0] or cuts[-1] != rows:
        raise ValueError(f"its chunks do not divide {rows} rows")
    if any(first >= last for first, last in pairwise(cuts)):
        raise ValueError("a chunk has no rows")


def write_chunk(writer: SectionWriter, name: str, sparse_values: SparseValues) -> None:
    """Write the sections of one chunk: all of these rows."""
    starts, node = sparse_values.starts, sparse_values.node.astype(np.int64)
    steps = np.diff(node, prepend=-1) - 1
    begins = starts[:-1][np.diff(starts) > 0]
    steps[begins] = node[begins]
    writer.add(name, pack({}, [np.diff(starts), steps]))
    del node, steps
    for k, row in enumerate(sparse_values.values):
        writer.add(f"{name}.{k}", pack({}, [row]))


def take_rows(sparse_values: SparseValues, rows: NDArray[np.int64]) -> SparseValues:
    """Return the given rows, in this order."""
    counts = np.diff(sparse_values.starts)[rows]
    starts = np.cumsum(np.concatenate([np.zeros(1, np.int64), counts]))
    taken: slice | NDArray[np.int64]
    if len(rows) and int(rows[-1]) - int(rows[0]) == len(rows) - 1 and (np.diff(rows) == 1).all():
        first, last = sparse_values.starts[[rows[0], rows[-1] + 1]].tolist()
        taken = slice(first, last)
    else:
        taken = np.repeat(sparse_values.starts[rows] - starts[:-1], counts)
        taken += np.arange(len(taken))
    return SparseValues(starts, sparse_values.node[taken], sparse_values.values[:, taken])


class SparseValueReader:
    """Reader of a block's sparse values, one chunk at a time."""

    def __init__(
        self,
        container: Container,
        prefix: str,
        cuts: Sequence[int],
        nodes: int,
        metrics: MetricColumns,
    ) -> None:
        self._container = container
        self._metrics = metrics
        self._prefix = prefix
        self._nodes = nodes
        self.chunks = [
            Chunk(number, first, last) for number, (first, last) in enumerate(pairwise(cuts))
        ]
        self._last: tuple[Chunk, list[int], SparseValues] | None = None
        self.size = 0  # bytes of the last result in the process's own memory

    def with_container(self, container: Container) -> "SparseValueReader":
        """Return the reader for another container of the same bytes."""
        other = shallow_copy(self)
        other._container = container
        return other

    def read(self, chunk: Chunk, metrics: Sequence[int]) -> SparseValues:
        """Return the values of the given metrics in a chunk, whose first row is row 0.

        The last result is cached: sums and variance of one query read the same values, and most
        blocks have one chunk.
        """
        last = self._last  # local copy: another thread may replace the attribute at any time
        if last is None or last[:2] != (chunk, [*metrics]):
            self._last = last = chunk, [*metrics], self.decode(chunk, metrics)
        return last[2]

    def decode(self, chunk: Chunk, metrics: Sequence[int]) -> SparseValues:
        """Return the same as `read`, without caching it."""
        name = f"{self._prefix}{chunk.number}"

        def decode(columns: PackedColumnReader) -> Arrays:
            starts = columns.starts()
            node = columns.index(2**31, int(starts[-1]))
            if len(starts) - 1 != chunk.last - chunk.first:
                raise ValueError("number of rows differs from the block's")
            decode_nodes(node, starts, self._nodes)
            return starts, node

        columns = self._container.read(name, decode, is_kept=False)
        starts, node = columns.arrays
        size = columns.private_bytes
        rows = list[NDArray[np.int64]]()
        for k in metrics:
            stored = [self._values(f"{name}.{s}", len(node)) for s in self._metrics.stored[k]]
            rows.append(add_columns([each.arrays[0] for each in stored]))
            size += stored[0].private_bytes if len(stored) == 1 else rows[-1].nbytes
        # The only row stays where it is, which may be shared memory.
        values = rows[0].reshape(1, -1) if len(rows) == 1 else _stack(rows, len(node))
        self.size = size if len(rows) == 1 else columns.private_bytes + values.nbytes
        return SparseValues(starts, node, values)

    def _values(self, name: str, count: int) -> DecodedColumns:
        return self._container.read(name, lambda columns: (columns.values(count),), is_kept=False)

    def read_marked(
        self, rows: Rows | None, metrics: Sequence[int], check: Check = never_cancel
    ) -> Iterator[tuple[Chunk, SparseValues, NDArray[np.uint8]]]:
        """Yield (chunk, its values, uint8 mask of its rows) for each chunk with any marked row."""
        for chunk in self.chunks:
            marks = np.ones(chunk.last - chunk.first, np.uint8)
            if rows is not None:
                marks = rows[chunk.first : chunk.last].astype(np.uint8)
            if marks.any():
                check()
                yield chunk, self.read(chunk, metrics), marks

    def sum_by_target(
        self,
        rows: Rows | None,
        metrics: Sequence[int],
        target: NDArray[np.int32],
        target_count: int,
        check: Check = never_cancel,
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Sum the values of the rows (None: all) by target; `target` has that of each line node.

        Return int64 [len(metrics), target_count], and uint8 [target_count], which marks the targets
        with values. Raise `BadProfile` if a sum exceeds 64 bits.
        """
        sums = np.zeros((len(metrics), target_count), np.int64)
        used = np.zeros(target_count, np.uint8)
        for _, sparse_values, marks in self.read_marked(rows, metrics, check):
            for k in range(len(metrics)):
                sum_rows(
                    sparse_values.starts,
                    sparse_values.node,
                    sparse_values.values[k],
                    marks,
                    target,
                    sums[k],
                    used,
                )
        return sums, used


def _stack(rows: Sequence[NDArray[np.int64]], width: int) -> NDArray[np.int64]:
    values = np.empty((len(rows), width), np.int64)
    for k, row in enumerate(rows):
        values[k] = row
    return values


def sum_magnitudes(values: NDArray[np.int64]) -> int:
    """Return the sum of the absolute values: below MAX_SUM, no sum of some of them overflows."""
    size = np.abs(values).view(np.uint64)  # correct for -2**63, too
    if not len(size) or int(size.max()) < 2**62 // len(size):
        return int(size.sum())
    high, low = int((size >> np.uint64(32)).sum()), int((size & _LOW_32_BITS).sum())
    return (high << 32) + low


class NodeSums:
    """Sums over rows at each node, by metric, without metrics whose sums may exceed 64 bits."""

    def __init__(self, metrics: int, nodes: int) -> None:
        self._magnitudes = [0] * metrics
        self._nodes = np.arange(nodes, dtype=np.int32)
        self.by_metric = {k: np.zeros(nodes, np.int64) for k in range(metrics)}

    def add(self, sparse_values: SparseValues) -> None:
        every = np.ones(len(sparse_values.starts) - 1, np.uint8)
        used = np.zeros(len(self._nodes), np.uint8)
        for k, values in enumerate(sparse_values.values):
            self._magnitudes[k] += sum_magnitudes(values)
            if self._magnitudes[k] > MAX_SUM:
                self.by_metric.pop(k, None)
                continue
            row = np.ascontiguousarray(values)
            starts, node, sums = sparse_values.starts, sparse_values.node, self.by_metric[k]
            sum_rows(starts, node, row, every, self._nodes, sums, used)


def exact_sum(values: NDArray[np.int64] | Sequence[int]) -> int:
    """Return the sum of the values, without overflow at 64 bits."""
    column = np.asarray(values, np.int64)
    if float(np.abs(column.astype(np.float64)).sum()) < 2.0**62:
        return int(column.sum())
    whole: list[Any] = column.tolist()
    return sum(whole)
