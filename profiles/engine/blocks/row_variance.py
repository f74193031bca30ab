"""Moments of the rows of a block, over its tree of functions."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block
from profiles.engine.blocks.sparse_values import Rows, SparseValues
from profiles.engine.blocks.used_nodes import UsedNodes, used_nodes
from profiles.engine.errors import TooLarge
from profiles.engine.loops import RowMoments, add_table, mark_cells

MAX_NODES = 2**21  # that the profiles of a chunk meet: 256 MB while they are added up
LIMIT = "max_moment_nodes"  # how it is called in TooLarge

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GroupVariance:
    """Σ over profiles, for G groups of them, of one metric."""

    square: NDArray[np.float64]  # [G, N], of the total of each node of the function tree
    present: NDArray[np.float64]  # [G, N], profiles in which that is not zero
    # [G, 4, P]: Σself², profiles with self, Σtotal² (recursion counted once), profiles with total.
    functions: NDArray[np.float64]


class UsedVariance(NamedTuple):
    """Σ over rows of a block, of one metric; of those nodes and functions alone that they use."""

    square: Floats  # [M], as in GroupMoments
    present: Floats  # [M]
    functions: Floats  # [4, frames]

    @property
    def size(self) -> int:
        return self.square.nbytes + self.present.nbytes + self.functions.nbytes


def used_variance(block: Block, metric: int, rows: Rows | None, used: UsedNodes) -> UsedVariance:
    """Of a metric of the block, by index; `used` is what its used_sums of these rows says.

    Those of all rows (None) are kept with the block. TooLarge as row_moments.
    """
    if rows is None:
        return block.derived(UsedVariance, metric, lambda: _used_moments(block, metric, None, used))
    return _used_moments(block, metric, rows, used)


def _used_moments(block: Block, metric: int, rows: Rows | None, used: UsedNodes) -> UsedVariance:
    if len(block.cells.chunks) == 1 and len(used.node) <= MAX_NODES:
        return _of_one_chunk(block, metric, rows, used)
    group = np.zeros(block.rows, np.int32) if rows is None else rows.astype(np.int32) - np.int32(1)
    return taken(row_variance(block, metric, group, 1), used)


def taken(moments: GroupVariance, used: UsedNodes) -> UsedVariance:
    """Of the only group, those of the nodes that are used."""
    return UsedVariance(
        moments.square[0, used.node],
        moments.present[0, used.node],
        moments.functions[0][:, used.frames],
    )


def _of_one_chunk(block: Block, metric: int, rows: Rows | None, used: UsedNodes) -> UsedVariance:
    """The nodes that its rows meet need not be looked for: the sums have found them."""
    chunk = block.cells.chunks[0]
    cells = block.cells.read(chunk, [metric])
    meant = np.arange(block.rows) if rows is None else np.flatnonzero(rows)
    # Sums of all rows may be stored ones, which do not say what they were made of.
    marked = _met(block, cells, meant)[used.node] if rows is None else used.marked
    sums = RowMoments(used.parent, used.frame, marked, len(used.frames), 1)
    place = np.full(len(block.tree.parent), -1, np.int32)
    place[used.node] = np.arange(len(used.node), dtype=np.int32)
    group = np.zeros(block.rows, np.int32)
    sums.add(cells.starts, cells.node, cells.values[0], place[block.node_of_line], meant, group)
    square, present, functions = sums.tables()
    return UsedVariance(square[0], present[0], functions[0])


def _met(block: Block, cells: SparseValues, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Which nodes of its tree of functions these rows have cells at."""
    marks = np.zeros(len(block.tree.parent), np.uint8)
    mark_cells(cells.starts, cells.node, block.node_of_line, rows, marks)
    return marks


def row_variance(block: Block, metric: int, group: NDArray[np.int32], groups: int) -> GroupVariance:
    """Of a metric of the block, by index; `group` of each row, [rows], -1: of none.

    TooLarge (max_moment_nodes) if the rows of a chunk meet too many nodes.
    """
    nodes, functions = len(block.tree.parent), len(block.functions.id)
    sums = GroupVariance(
        np.zeros((groups, nodes)), np.zeros((groups, nodes)), np.zeros((groups, 4, functions))
    )
    for chunk, cells, _ in block.cells.marked(group >= 0, [metric]):
        _add_chunk(sums, block, cells, group[chunk.first : chunk.last])
    return sums


def _add_chunk(
    sums: GroupVariance, block: Block, cells: SparseValues, group: NDArray[np.int32]
) -> None:
    """Over those nodes alone that the rows meet: a block may have many more."""
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    here, of_row = np.unique(group[rows], return_inverse=True)
    local = np.zeros(len(group), np.int32)
    local[rows] = of_row
    marks = _met(block, cells, rows)
    used = used_nodes(block.tree.parent, block.tree.function, marks)
    if len(used.node) > MAX_NODES:
        raise TooLarge(LIMIT, len(used.node), MAX_NODES)
    place = np.cumsum(marks, dtype=np.int32) - 1
    of_chunk = RowMoments(used.parent, used.frame, used.marked, len(used.frames), len(here))
    of_chunk.add(cells.starts, cells.node, cells.values[0], place[block.node_of_line], rows, local)
    square, present, functions = of_chunk.tables()
    rows = here.astype(np.int64)
    add_table(sums.square, rows, used.node, square)
    add_table(sums.present, rows, used.node, present)
    for column in range(functions.shape[1]):
        add_table(sums.functions[:, column], rows, used.frames, functions[:, column])
