"""Subtree of the nodes of a block that have values or lead to values."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.sparse_rows import mark_ancestors


class UsedNodes(NamedTuple):
    """M nodes of a block and their frames."""

    node: NDArray[np.int64]  # [M], node of the block
    parent: NDArray[np.int32]  # [M], index of the parent in this subtree
    frame: NDArray[np.int32]  # [M], index `frames`
    frames: NDArray[np.int64]  # frame of the block
    marked: NDArray[np.uint8]  # [M], 1 for nodes with values, 0 for mere ancestors


def select_used_nodes(
    parent: NDArray[np.int32], frame: NDArray[np.int32], used: NDArray[np.uint8]
) -> UsedNodes:
    """Return the marked nodes and their ancestors; the ancestors are marked in `used`, too."""
    marked = used.copy()
    mark_ancestors(parent, used)
    node = np.flatnonzero(used)
    if len(node) == len(parent):
        above, of_node = parent, frame
    else:
        rank = np.cumsum(used, dtype=np.int32) - 1
        above, of_node = parent[node], frame[node]
        above = np.where(above >= 0, rank[above], -1).astype(np.int32)
    seen = np.zeros(int(frame.max(initial=-1)) + 1, bool)
    seen[of_node] = True
    frame_rank = np.cumsum(seen, dtype=np.int32) - 1
    return UsedNodes(node, above, frame_rank[of_node], np.flatnonzero(seen), marked[node])
