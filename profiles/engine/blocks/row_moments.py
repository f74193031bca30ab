"""Moments of the rows of a block, over its tree of functions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block
from profiles.engine.blocks.cells import Cells
from profiles.engine.blocks.used import used_nodes
from profiles.engine.errors import TooLarge
from profiles.engine.loops import RowMoments, add_table, mark_cells

MAX_NODES = 2**21  # that the profiles of a chunk meet: 256 MB while they are added up
LIMIT = "max_moment_nodes"  # how it is called in TooLarge


@dataclass(frozen=True, slots=True)
class GroupMoments:
    """Σ over profiles, for G groups of them, of one metric."""

    square: NDArray[np.float64]  # [G, N], of the total of each node of the function tree
    present: NDArray[np.float64]  # [G, N], profiles in which that is not zero
    # [G, 4, P]: Σself², profiles with self, Σtotal² (recursion counted once), profiles with total.
    functions: NDArray[np.float64]


def row_moments(block: Block, metric: int, group: NDArray[np.int32], groups: int) -> GroupMoments:
    """Of a metric of the block, by index; `group` of each row, [rows], -1: of none.

    TooLarge (max_moment_nodes) if the rows of a chunk meet too many nodes.
    """
    nodes, functions = len(block.tree.parent), len(block.functions.id)
    sums = GroupMoments(
        np.zeros((groups, nodes)), np.zeros((groups, nodes)), np.zeros((groups, 4, functions))
    )
    for chunk, cells, _ in block.cells.marked(group >= 0, [metric]):
        _add_chunk(sums, block, cells, group[chunk.first : chunk.last])
    return sums


def _add_chunk(sums: GroupMoments, block: Block, cells: Cells, group: NDArray[np.int32]) -> None:
    """Over those nodes alone that the rows meet: a block may have many more."""
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    here, of_row = np.unique(group[rows], return_inverse=True)
    local = np.zeros(len(group), np.int32)
    local[rows] = of_row
    marks = np.zeros(len(block.tree.parent), np.uint8)
    mark_cells(cells.starts, cells.node, block.node_of_line, rows, marks)
    with_values = marks.copy()
    used = used_nodes(block.tree.parent, block.tree.function, marks)
    if len(used.node) > MAX_NODES:
        raise TooLarge(LIMIT, len(used.node), MAX_NODES)
    place = np.cumsum(marks, dtype=np.int32) - 1
    of_chunk = RowMoments(
        used.parent, used.frame, with_values[used.node], len(used.frames), len(here)
    )
    of_chunk.add(cells.starts, cells.node, cells.values[0], place[block.node_of_line], rows, local)
    square, present, functions = of_chunk.tables()
    rows = here.astype(np.int64)
    add_table(sums.square, rows, used.node, square)
    add_table(sums.present, rows, used.node, present)
    for column in range(functions.shape[1]):
        add_table(sums.functions[:, column], rows, used.frames, functions[:, column])
