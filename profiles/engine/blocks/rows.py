"""Rows of an hour block while it is built: profiles with their sparse values, from any source."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block
from profiles.engine.blocks.builder import Builder, Nodes, StoredLabels
from profiles.engine.blocks.hour import HourBlock
from profiles.engine.blocks.sections.identities import Identities
from profiles.engine.blocks.sections.profile_columns import (
    BlockProfile,
    ProfileColumns,
    build_profile_columns,
    join_profile_columns,
)
from profiles.engine.blocks.sections.sample_labels import LabelledValues, join_labelled_values
from profiles.engine.blocks.sparse_rows import sort_values
from profiles.engine.blocks.sparse_values import Rows, SparseValues
from profiles.engine.blocks.used_nodes import select_used_nodes
from profiles.engine.metrics import Metric


@dataclass(frozen=True, slots=True)
class BlockRows:
    """R profiles with their C sparse values, for K metrics; nodes are builder positions."""

    profiles: ProfileColumns
    identities: Identities
    lengths: NDArray[np.int64]  # [R], number of sparse values of each profile
    node: NDArray[np.int32]  # [C]
    values: NDArray[np.int64]  # [K, C]
    labelled: LabelledValues


def rows_of_profiles(builder: Builder, profiles: Sequence[BlockProfile]) -> BlockRows:
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
    return BlockRows(
        profiles=columns,
        identities=Identities(
            name_id=tuple(profile.name_id for profile in profiles),
            body_hash=tuple(profile.body_hash for profile in profiles),
            time_source=tuple(profile.time_source for profile in profiles),
        ),
        lengths=lengths,
        node=node,
        values=values,
        labelled=join_labelled_values(labelled, len(metrics)),
    )


def rows_of_block(builder: Builder, block: HourBlock, rows: Rows | None) -> BlockRows:
    """Add the marked profiles (None: all) of a block to the builder and return their rows."""
    selected = np.arange(block.rows) if rows is None else np.flatnonzero(rows)
    sparse_values = read_sparse_values(block, rows)
    builder_node = enter_used(builder, block, sparse_values.node)
    labelled = block.labelled.select_rows(rows) if block.labelled else None
    rank = np.zeros(block.rows, np.int64)
    rank[selected] = np.arange(len(selected))
    return BlockRows(
        profiles=block.profiles.take(selected),
        identities=block.identities.take(selected),
        lengths=np.diff(sparse_values.starts),
        node=builder_node[sparse_values.node],
        values=sparse_values.values,
        labelled=labelled.renumber(rank, builder_node)
        if labelled
        else join_labelled_values([], len(block.metrics)),
    )


def all_rows(parts: Sequence[BlockRows]) -> BlockRows:
    """Concatenate rows, over the union of their metrics."""
    profiles = join_profile_columns([part.profiles for part in parts])
    starts = np.cumsum([0, *(len(part.lengths) for part in parts)]).tolist()
    return BlockRows(
        profiles=profiles,
        identities=Identities(
            name_id=tuple(name for part in parts for name in part.identities.name_id),
            body_hash=tuple(body_hash for part in parts for body_hash in part.identities.body_hash),
            time_source=tuple(source for part in parts for source in part.identities.time_source),
        ),
        lengths=np.concatenate([part.lengths for part in parts]),
        node=np.concatenate([part.node for part in parts]),
        values=np.concatenate(
            [spread(part.values, part.profiles.metrics, profiles.metrics) for part in parts], 1
        ),
        labelled=join_labelled_values(
            [
                replace(
                    part.labelled,
                    row=part.labelled.row + np.int32(starts[i]),
                    values=spread(part.labelled.values, part.profiles.metrics, profiles.metrics),
                )
                for i, part in enumerate(parts)
            ],
            len(profiles.metrics),
        ),
    )


def sort_rows(rows: BlockRows, line_node: NDArray[np.int32]) -> BlockRows:
    """Sort rows by time, then name, and their sparse values by node.

    `line_node` maps builder positions to the final line nodes.
    """
    names = np.array(rows.identities.name_id, object)
    order = np.lexsort((names, rows.profiles.time)).astype(np.int64)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    node = line_node[rows.node]
    value_order = sort_values(rank, rows.lengths, node, len(line_node))
    return BlockRows(
        profiles=rows.profiles.take(order),
        identities=rows.identities.take(order),
        lengths=rows.lengths[order],
        node=node[value_order],
        values=rows.values[:, value_order],
        labelled=rows.labelled.renumber(rank, line_node),
    )


def _label_values(row: int, labels: StoredLabels, metrics: Sequence[Metric]) -> LabelledValues:
    sparse_values = labels.sparse_values
    return LabelledValues(
        sparse_values.label_sets,
        np.full(len(sparse_values.node), row, np.int32),
        labels.builder_node[sparse_values.node],
        sparse_values.label_set,
        spread(sparse_values.values, labels.metrics, metrics),
    )


def read_sparse_values(block: Block, rows: Rows | None) -> SparseValues:
    """Return the sparse values of the marked rows (None: all rows), for all metrics."""
    metrics = range(len(block.metrics))
    lengths, nodes = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    values = [np.zeros((len(block.metrics), 0), np.int64)]
    for _, sparse_values, marks in block.sparse_values.read_marked(rows, metrics):
        counts = np.diff(sparse_values.starts)
        if marks.all():
            selected: slice | NDArray[np.bool_] = slice(None)
        else:
            selected = np.repeat(marks, counts).astype(bool)
        lengths.append(counts[marks.astype(bool)])
        nodes.append(sparse_values.node[selected])
        values.append(sparse_values.values[:, selected])
    starts = np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))
    return SparseValues(starts, np.concatenate(nodes), np.concatenate(values, axis=1))


def enter_used(builder: Builder, block: Block, node: NDArray[np.int32]) -> NDArray[np.int32]:
    """Add the given line nodes and their ancestors to the builder.

    Return the builder position of each line node of the block, -1 for nodes that were not added.
    """
    lines, functions = block.lines, block.functions
    used = np.zeros(len(lines.parent), np.uint8)
    used[node] = 1
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
