"""Sums of squares and counts over the rows of a block, by node of its function tree."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block
from profiles.engine.blocks.sections.decoded_columns import Arrays
from profiles.engine.blocks.sparse_rows import RowVarianceSums, add_table, mark_nodes
from profiles.engine.blocks.sparse_values import Rows, SparseValues
from profiles.engine.blocks.used_nodes import UsedNodes, select_used_nodes
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.errors import TooLarge

MAX_NODES = 2**21  # nodes that one chunk of rows may use: 256 MB while they are summed
LIMIT = "max_moment_nodes"  # name of the limit in TooLarge

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GroupVariance:
    """Sums over the profiles of each of G groups, for one metric and P functions."""

    square: NDArray[np.float64]  # [G, N], Σtotal² of each node of the function tree
    present: NDArray[np.float64]  # [G, N], number of profiles in which the total is not zero
    # [G, 4, P]: Σself², profiles with self, Σtotal² (recursion counted once), profiles with total.
    functions: NDArray[np.float64]


class UsedVariance(NamedTuple):
    """Sums over rows of a block for one metric, restricted to the nodes and functions they use."""

    square: Floats  # [M], as in GroupVariance
    present: Floats  # [M]
    functions: Floats  # [4, frames]

    def to_arrays(self) -> Arrays:
        return tuple(self)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "UsedVariance":
        return cls(*arrays)


def compute_variance(
    block: Block, metric: int, rows: Rows | None, used: UsedNodes, check: Check = never_cancel
) -> UsedVariance:
    """Compute the sums of squares and counts of a metric (by index) over the rows.

    `used` is that of the block's `get_used_sums` of the same rows. The result for all rows (None)
    is cached with the block. Raise `TooLarge` like `row_variance`.
    """
    if rows is None:
        return block.get_derived(
            UsedVariance, metric, lambda: _compute_variance(block, metric, None, used, check)
        )
    return _compute_variance(block, metric, rows, used, check)


def _compute_variance(
    block: Block, metric: int, rows: Rows | None, used: UsedNodes, check: Check
) -> UsedVariance:
    if len(block.sparse_values.chunks) == 1 and len(used.node) <= MAX_NODES:
        return _compute_one_chunk(block, metric, rows, used)
    group = np.zeros(block.rows, np.int32) if rows is None else rows.astype(np.int32) - np.int32(1)
    return taken(row_variance(block, metric, group, 1, check), used)


def taken(variance: GroupVariance, used: UsedNodes) -> UsedVariance:
    """Select the used nodes and functions of the only group."""
    return UsedVariance(
        variance.square[0, used.node],
        variance.present[0, used.node],
        variance.functions[0][:, used.frames],
    )


def _compute_one_chunk(
    block: Block, metric: int, rows: Rows | None, used: UsedNodes
) -> UsedVariance:
    """Compute the variance of a block with one chunk, on the nodes that its sums found already."""
    chunk = block.sparse_values.chunks[0]
    sparse_values = block.sparse_values.read(chunk, [metric])
    meant = np.arange(block.rows) if rows is None else np.flatnonzero(rows)
    # Sums over all rows may come from stored sums, which do not mark the nodes with own values.
    marked = _met(block, sparse_values, meant)[used.node] if rows is None else used.marked
    sums = RowVarianceSums(used.parent, used.frame, marked, len(used.frames), 1)
    used_index = np.full(len(block.tree.parent), -1, np.int32)
    used_index[used.node] = np.arange(len(used.node), dtype=np.int32)
    group = np.zeros(block.rows, np.int32)
    sums.add(
        sparse_values.starts,
        sparse_values.node,
        sparse_values.values[0],
        used_index[block.node_of_line],
        meant,
        group,
    )
    square, present, functions = sums.tables()
    return UsedVariance(square[0], present[0], functions[0])


def _met(block: Block, sparse_values: SparseValues, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Mark the nodes of the function tree at which these rows have values, uint8 [N]."""
    marks = np.zeros(len(block.tree.parent), np.uint8)
    mark_nodes(sparse_values.starts, sparse_values.node, block.node_of_line, rows, marks)
    return marks


def row_variance(
    block: Block, metric: int, group: NDArray[np.int32], groups: int, check: Check = never_cancel
) -> GroupVariance:
    """Compute the sums of squares and counts of a metric (by index) for each group of rows.

    `group` is the group of each row, int32 [rows], or -1 to skip the row. Raise `TooLarge`
    (max_moment_nodes) if the rows of one chunk use more than MAX_NODES nodes.
    """
    nodes, functions = len(block.tree.parent), len(block.functions.id)
    sums = GroupVariance(
        np.zeros((groups, nodes)), np.zeros((groups, nodes)), np.zeros((groups, 4, functions))
    )
    for chunk, sparse_values, _ in block.sparse_values.read_marked(group >= 0, [metric], check):
        _add_chunk(sums, block, sparse_values, group[chunk.first : chunk.last])
    return sums


def _add_chunk(
    sums: GroupVariance, block: Block, sparse_values: SparseValues, group: NDArray[np.int32]
) -> None:
    """Add one chunk of rows, working only on the nodes that its rows use.

    A block may have many more nodes than one chunk.
    """
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    here, of_row = np.unique(group[rows], return_inverse=True)
    local = np.zeros(len(group), np.int32)
    local[rows] = of_row
    marks = _met(block, sparse_values, rows)
    used = select_used_nodes(block.tree.parent, block.tree.function, marks)
    if len(used.node) > MAX_NODES:
        raise TooLarge(LIMIT, len(used.node), MAX_NODES)
    used_index = np.cumsum(marks, dtype=np.int32) - 1
    of_chunk = RowVarianceSums(used.parent, used.frame, used.marked, len(used.frames), len(here))
    of_chunk.add(
        sparse_values.starts,
        sparse_values.node,
        sparse_values.values[0],
        used_index[block.node_of_line],
        rows,
        local,
    )
    square, present, functions = of_chunk.tables()
    rows = here.astype(np.int64)
    add_table(sums.square, rows, used.node, square)
    add_table(sums.present, rows, used.node, present)
    for column in range(functions.shape[1]):
        add_table(sums.functions[:, column], rows, used.frames, functions[:, column])
