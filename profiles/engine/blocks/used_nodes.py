"""Of a block's nodes those that lead to a value, as a tree of their own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.loops import mark_parents


@dataclass(frozen=True, slots=True)
class UsedNodes:
    """M of the nodes, and the frames that they have."""

    node: NDArray[np.int64]  # [M], which of the block's
    parent: NDArray[np.int32]  # [M], among these
    frame: NDArray[np.int32]  # [M], index `frames`
    frames: NDArray[np.int64]  # which of the block's
    marked: NDArray[np.uint8]  # [M], not those that only lead to others

    @property
    def size(self) -> int:
        """Bytes."""
        columns = (self.node, self.parent, self.frame, self.frames, self.marked)
        return sum(column.nbytes for column in columns)


def used_nodes(
    parent: NDArray[np.int32], frame: NDArray[np.int32], used: NDArray[np.uint8]
) -> UsedNodes:
    """The marked nodes and what leads to them; `used` is marked so too."""
    marked = used.copy()
    mark_parents(parent, used)
    node = np.flatnonzero(used)
    if len(node) == len(parent):
        above, of_node = parent, frame
    else:
        rank = np.cumsum(used, dtype=np.int32) - 1
        above, of_node = parent[node], frame[node]
        above = np.where(above >= 0, rank[above], -1).astype(np.int32)
    seen = np.zeros(int(frame.max(initial=-1)) + 1, bool)
    seen[of_node] = True
    place = np.cumsum(seen, dtype=np.int32) - 1
    return UsedNodes(node, above, place[of_node], np.flatnonzero(seen), marked[node])
