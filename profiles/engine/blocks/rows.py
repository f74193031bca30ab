"""Rows of an hour block while it is built: profiles with their sparse values, from any source.

Values are read when they are written, one chunk of the new block after another. So memory does not
grow with the number of profiles, but for their metadata and the nodes of their call trees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block
from profiles.engine.blocks.builder import Builder, Nodes, StoredLabels
from profiles.engine.blocks.hour import HourBlock
from profiles.engine.blocks.sections.container import SectionWriter
from profiles.engine.blocks.sections.identities import Identities
from profiles.engine.blocks.sections.profile_columns import (
    BlockProfile,
    ProfileColumns,
    build_profile_columns,
)
from profiles.engine.blocks.sections.sample_labels import LabelledValues, join_labelled_values
from profiles.engine.blocks.sparse_rows import sort_values
from profiles.engine.blocks.sparse_values import (
    Chunk,
    NodeSums,
    Rows,
    SparseValueReader,
    SparseValues,
    cut,
    take_rows,
    write_chunk,
)
from profiles.engine.blocks.used_nodes import select_used_nodes
from profiles.engine.errors import TooLarge
from profiles.engine.metrics import Metric

MAX_DECODED_BYTES = 16 * 2**20  # chunks of all merged blocks that are decoded at a time
# Numbers of all values with sample labels in a block, whose section is made in some 100 MB.
MAX_LABELLED_NUMBERS = 2**22
LABELLED_LIMIT = "max_labelled_numbers"  # name of the limit in TooLarge


class RowValues(Protocol):
    """Sparse values of the rows of one input; their nodes are builder positions."""

    def read(self, rows: NDArray[np.int64]) -> SparseValues:
        """Return the values of these rows, which are in ascending order."""


@dataclass(frozen=True, slots=True)
class InputRows:
    """R profiles of one input of a new block; nodes are builder positions."""

    profiles: ProfileColumns
    identities: Identities
    lengths: NDArray[np.int64]  # [R], number of sparse values of each profile
    values: RowValues
    labelled: LabelledValues


class DecodedChunks:
    """Decoded chunks of several blocks: those used last, up to MAX_DECODED_BYTES.

    Blocks follow each other in time, or overlap: then each chunk of the new block has rows of many.
    """

    def __init__(self) -> None:
        self._chunks: LRUCache[tuple[int, int], SparseValues] = LRUCache(
            MAX_DECODED_BYTES, getsizeof=lambda each: each.node.nbytes + each.values.nbytes
        )

    def read(self, reader: SparseValueReader, chunk: Chunk, metrics: int) -> SparseValues:
        key = id(reader), chunk.number
        found = self._chunks.get(key)
        if found is None:
            found = reader.decode(chunk, range(metrics))
            if found.node.nbytes + found.values.nbytes <= MAX_DECODED_BYTES:
                self._chunks[key] = found
        return found


@dataclass(frozen=True, slots=True)
class _StoredValues:
    """Values of stored profiles, in memory."""

    values: SparseValues

    def read(self, rows: NDArray[np.int64]) -> SparseValues:
        return take_rows(self.values, rows)


@dataclass(frozen=True, slots=True)
class _BlockValues:
    """Values of the selected rows of a block, which are read chunk by chunk."""

    reader: SparseValueReader
    metrics: int
    selected: NDArray[np.int64]  # [R], rows of the block
    builder_node: NDArray[np.int32]  # of each line node of the block
    chunks: DecodedChunks

    def read(self, rows: NDArray[np.int64]) -> SparseValues:
        selected = self.selected[rows]
        parts = []
        for chunk in self.reader.chunks:
            first, last = np.searchsorted(selected, [chunk.first, chunk.last]).tolist()
            if first < last:
                decoded = self.chunks.read(self.reader, chunk, self.metrics)
                parts.append(take_rows(decoded, selected[first:last] - chunk.first))
        found = join_sparse_values(parts, self.metrics)
        return replace(found, node=self.builder_node[found.node])


def rows_of_profiles(builder: Builder, profiles: Sequence[BlockProfile]) -> InputRows:
    """Add stored profiles to the builder and return their rows."""
    columns = build_profile_columns(profiles)
    metrics = columns.metrics
    lengths, labelled = np.zeros(len(profiles), np.int64), []
    builder.start(len(metrics))
    for row, profile in enumerate(profiles):
        lengths[row], labels = builder.add_stored(profile.tree, metrics)
        if labels:
            labelled.append(_label_values(row, labels, metrics))
    node, values = builder.sparse_values()
    builder.start(0)
    return InputRows(
        profiles=columns,
        identities=Identities(
            name_id=tuple(profile.name_id for profile in profiles),
            body_hash=tuple(profile.body_hash for profile in profiles),
            time_source=tuple(profile.time_source for profile in profiles),
        ),
        lengths=lengths,
        values=_StoredValues(SparseValues(_starts(lengths), node, values)),
        labelled=join_labelled_values(labelled, len(metrics)),
    )


def rows_of_block(
    builder: Builder, block: HourBlock, rows: Rows | None, chunks: DecodedChunks
) -> InputRows:
    """Add the marked profiles (None: all) of a block to the builder and return their rows."""
    block = block.copy_without_columns()
    selected = np.arange(block.rows) if rows is None else np.flatnonzero(rows)
    reader = block.sparse_values
    lengths = np.zeros(block.rows, np.int64)
    used = np.zeros(len(block.node_of_line), np.uint8)
    for chunk, sparse_values in _read_nodes(reader, rows):
        lengths[chunk.first : chunk.last] = np.diff(sparse_values.starts)
        used[sparse_values.node] = 1
    builder_node = enter_used(builder, block, used)
    labelled = block.labelled.select_rows(rows) if block.labelled else None
    rank = np.zeros(block.rows, np.int64)
    rank[selected] = np.arange(len(selected))
    metrics = len(block.metrics)
    return InputRows(
        profiles=block.profiles.take(selected),
        identities=block.identities.take(selected),
        lengths=lengths[selected],
        values=_BlockValues(reader, metrics, selected, builder_node, chunks),
        labelled=labelled.renumber(rank, builder_node)
        if labelled
        else join_labelled_values([], metrics),
    )


def _read_nodes(
    reader: SparseValueReader, rows: Rows | None
) -> Iterator[tuple[Chunk, SparseValues]]:
    """Yield the chunks with marked rows (None: all), and the nodes of these rows.

    Rows that are not marked have no nodes.
    """
    for chunk in reader.chunks:
        if rows is None:
            yield chunk, reader.decode(chunk, [])
            continue
        marked = rows[chunk.first : chunk.last]
        if marked.any():
            sparse_values = reader.decode(chunk, [])
            counts = np.diff(sparse_values.starts)
            selected = np.repeat(marked, counts)
            yield (
                chunk,
                SparseValues(
                    _starts(np.where(marked, counts, 0)),
                    sparse_values.node[selected],
                    sparse_values.values[:, selected],
                ),
            )


def order_rows(inputs: Sequence[InputRows]) -> NDArray[np.int64]:
    """Return the order of all rows by time, then name."""
    names = np.array([name for each in inputs for name in each.identities.name_id], object)
    times = np.concatenate([each.profiles.time for each in inputs])
    return np.lexsort((names, times)).astype(np.int64)


def join_identities(inputs: Sequence[InputRows], order: NDArray[np.int64]) -> Identities:
    """Return the identities of all rows, in this order."""
    return Identities(
        name_id=tuple(name for each in inputs for name in each.identities.name_id),
        body_hash=tuple(body_hash for each in inputs for body_hash in each.identities.body_hash),
        time_source=tuple(source for each in inputs for source in each.identities.time_source),
    ).take(order)


def limit_labelled(inputs: Sequence[InputRows]) -> None:
    """Raise `TooLarge` (max_labelled_numbers) for too many values of more than one profile."""
    if sum(len(each.lengths) for each in inputs) > 1:
        limit_labelled_numbers([each.labelled for each in inputs])


def limit_labelled_numbers(parts: Sequence[LabelledValues]) -> None:
    """Raise `TooLarge` (max_labelled_numbers) for too many values."""
    count = sum(each.values.size + 2 * len(each.row) for each in parts)
    if count > MAX_LABELLED_NUMBERS:
        raise TooLarge(LABELLED_LIMIT, count, MAX_LABELLED_NUMBERS)


def join_labelled(
    inputs: Sequence[InputRows],
    metrics: Sequence[Metric],
    order: NDArray[np.int64],
    line_node: NDArray[np.int32],
) -> LabelledValues:
    """Return the values with sample labels of all rows, in this order."""
    firsts = _starts(np.array([len(each.lengths) for each in inputs], np.int64)).tolist()
    parts = [
        replace(
            each.labelled,
            row=each.labelled.row + np.int32(first),
            values=spread(each.labelled.values, each.profiles.metrics, metrics),
        )
        for each, first in zip(inputs, firsts, strict=False)
    ]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return join_labelled_values(parts, len(metrics)).renumber(rank, line_node)


def write_values(
    writer: SectionWriter,
    inputs: Sequence[InputRows],
    metrics: Sequence[Metric],
    order: NDArray[np.int64],
    line_node: NDArray[np.int32],
) -> tuple[list[int], NodeSums]:
    """Write the sparse values of all rows in this order, as sections `cells…`.

    `line_node` maps builder positions to the final line nodes. Return the chunk boundaries for the
    directory, and the sums.
    """
    lengths = np.concatenate([each.lengths for each in inputs])[order]
    cuts = cut(_starts(lengths), len(metrics))
    sums = NodeSums(len(metrics), len(line_node))
    for number, (first, last) in enumerate(pairwise(cuts)):
        sparse_values = _gather(inputs, metrics, order[first:last], line_node)
        sums.add(sparse_values)
        write_chunk(writer, f"cells{number}", sparse_values)
    return cuts, sums


def _gather(
    inputs: Sequence[InputRows],
    metrics: Sequence[Metric],
    rows: NDArray[np.int64],
    line_node: NDArray[np.int32],
) -> SparseValues:
    """Return the values of these rows, which are numbered through all inputs, sorted by node."""
    ranks, parts, first = [np.zeros(0, np.int64)], [], 0
    for each in inputs:
        last = first + len(each.lengths)
        positions = np.flatnonzero((rows >= first) & (rows < last))
        if len(positions):
            positions = positions[np.argsort(rows[positions])]
            found = each.values.read(rows[positions] - first)
            ranks.append(positions)
            values = spread(found.values, each.profiles.metrics, metrics)
            parts.append(replace(found, values=values))
        first = last
    joined = join_sparse_values(parts, len(metrics))
    rank, lengths = np.concatenate(ranks), np.diff(joined.starts)
    node = line_node[joined.node]
    value_order = sort_values(rank, lengths, node, len(line_node))
    in_order = np.zeros(len(rows), np.int64)
    in_order[rank] = lengths
    return SparseValues(_starts(in_order), node[value_order], joined.values[:, value_order])


def join_sparse_values(parts: Sequence[SparseValues], metrics: int) -> SparseValues:
    """Concatenate the rows of several parts."""
    if len(parts) == 1:
        return parts[0]
    return SparseValues(
        _starts(np.concatenate([np.zeros(0, np.int64), *(np.diff(p.starts) for p in parts)])),
        np.concatenate([np.zeros(0, np.int32), *(part.node for part in parts)]),
        np.concatenate([np.zeros((metrics, 0), np.int64), *(p.values for p in parts)], axis=1),
    )


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), lengths]))


def _label_values(row: int, labels: StoredLabels, metrics: Sequence[Metric]) -> LabelledValues:
    sparse_values = labels.sparse_values
    return LabelledValues(
        sparse_values.label_sets,
        np.full(len(sparse_values.node), row, np.int32),
        labels.builder_node[sparse_values.node],
        sparse_values.label_set,
        spread(sparse_values.values, labels.metrics, metrics),
    )


def enter_used(builder: Builder, block: Block, used: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Add the marked line nodes and their ancestors to the builder.

    Return the builder position of each line node of the block, -1 for nodes that were not added.
    """
    lines, functions = block.lines, block.functions
    part = select_used_nodes(lines.parent, lines.frame, used)
    here, of_frame = np.unique(lines.function[part.frames], return_inverse=True)
    builder_node = np.full(len(used), -1, np.int32)
    builder_node[part.node] = builder.add(
        Nodes(
            strings=block.strings,
            function_id=functions.id[here],
            name=functions.name[here],
            file=functions.file[here],
            function=of_frame.astype(np.int32),
            line=lines.line[part.frames],
            mapping=lines.mapping[part.frames],
            start_line=lines.start_line[part.frames],
            parent=part.parent,
            frame=part.frame,
        )
    )
    return builder_node


def _metric_indexes(metrics: Sequence[Metric], all_metrics: Sequence[Metric]) -> NDArray[np.int64]:
    """Return the index of each metric in `all_metrics`. Raise `ValueError` if one is not in it."""
    return np.array([all_metrics.index(metric) for metric in metrics], np.int64)


def spread(
    values: NDArray[np.int64], metrics: Sequence[Metric], all_metrics: Sequence[Metric]
) -> NDArray[np.int64]:
    """Expand values [K, C] to the metrics `all_metrics`; the other metrics become zero."""
    if tuple(metrics) == tuple(all_metrics):
        return values
    spread = np.zeros((len(all_metrics), values.shape[1]), np.int64)
    spread[_metric_indexes(metrics, all_metrics)] = values
    return spread
