"""Merge of many profiles into one tree that has a row of values for each profile.

Linear operations (filters, focus, grouping) are applied to all profiles at once by applying them to
that tree. Comparisons get their intervals from it for views that change the nodes.
"""

import numpy as np
from numpy.typing import NDArray

from profiles.engine.accumulators.merge import MAX_NODES, Merge
from profiles.engine.blocks.day import DayBlock
from profiles.engine.blocks.hour import HourBlock
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.encoding.codec import Numbers, decode, read_numbers, reading
from profiles.engine.encoding.json_header import read_metrics
from profiles.engine.errors import TooLarge
from profiles.engine.metrics import Metric

MAX_CELLS = 2**23  # profiles × nodes: 64 MB
LIMIT = "max_profile_cells"  # name of the limit in TooLarge

SparseColumns = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]  # row, node, value


class PerProfile(Merge):
    """Merge over one metric that keeps the profiles' values separate, in order of addition.

    Profiles without the metric have a row of zeros. Raise `TooLarge` (max_profile_cells) if
    profiles × nodes exceeds `max_cells`.
    """

    def __init__(
        self,
        metric: Metric,
        by_function: bool = True,
        max_cells: int = MAX_CELLS,
        profile_type: str = "",
        check: Check = never_cancel,
    ) -> None:
        super().__init__([metric], by_function, MAX_NODES, profile_type, check)
        self.count = 0  # profiles
        self._max_values = max_cells
        self._sparse_columns: list[SparseColumns] = []

    def add_tree(self, tree: Tree) -> None:
        """Add a tree as one profile."""
        forest_node = self._add_tree(tree)
        metrics = self._map_to_canonical(tree.metrics)
        if self.metrics[0] in metrics:
            own = tree.self[metrics.index(self.metrics[0])]
            node = np.flatnonzero(own)
            self._take(np.zeros(len(node), np.int64), forest_node[node], own[node])
        self._count(1)

    def add_encoded(self, data: bytes, numbers: Numbers | None = None) -> None:
        """Add a stored tree as one profile."""
        if not self.by_function:
            self.add_tree(decode(data))
            return
        numbers = numbers or read_numbers(data)
        with reading():
            metrics = self._map_to_canonical(read_metrics(numbers.head["metrics"]))
        self._add_packed(numbers, data)
        if self.metrics[0] in metrics:
            node, value = self._packed.sparse_values()
            self._take(np.zeros(len(node), np.int64), node, value)
        self._count(1)

    def add_hour(self, block: HourBlock, profiles: Rows | None = None) -> None:
        """Add the marked profiles of an hour block (None: all) as a row each."""
        marks = np.ones(block.rows, bool) if profiles is None else profiles
        rank = np.cumsum(marks) - 1
        metrics = [k for k, metric in enumerate(block.metrics) if metric == self.metrics[0]]
        found = (
            list(block.sparse_values.read_marked(marks, metrics, self._check)) if metrics else []
        )
        used, _, forest_node = self._add_block(block, profiles)
        here = np.full(len(block.tree.parent if self.by_function else block.node_of_line), -1)
        here[used.node] = forest_node
        for chunk, sparse_values, chunk_marks in found:
            row = np.repeat(np.arange(chunk.first, chunk.last), np.diff(sparse_values.starts))
            selected = np.flatnonzero(np.repeat(chunk_marks, np.diff(sparse_values.starts)))
            node = (
                block.node_of_line[sparse_values.node[selected]]
                if self.by_function
                else sparse_values.node[selected]
            )
            self._take(
                rank[row[selected]], here[node].astype(np.int32), sparse_values.values[0][selected]
            )
        self._count(int(marks.sum()))

    def add_day(self, block: DayBlock, groups: Rows | None = None) -> None:
        """Raise `ValueError`: day blocks have no values of single profiles."""
        raise ValueError("A day block has no values of individual profiles.")

    def next_side(self) -> int:
        """Start the second side of a comparison, and return the number of profiles so far.

        The sums are reset, so that the limit of 64 bits applies to each side on its own; the result
        has the values of each profile, not their sums.
        """
        self._forest.nodes.sums.clear()
        return self.count

    def tree(self) -> Tree:
        """Return the tree with a row of values per profile: self [P, N], metrics "0" to "P - 1"."""
        whole = super().tree()
        table = np.zeros((self.count, len(whole.id)), np.int64)
        for row, node, value in self._sparse_columns:
            self._check()
            np.add.at(table, (row, node), value)
        unit = self.metrics[0].unit
        metrics = tuple(Metric(str(i), unit) for i in range(self.count))
        return Tree(metrics, whole.frames, whole.id, whole.parent, whole.frame, table)

    def _take(
        self, row: NDArray[np.int64], node: NDArray[np.int32], value: NDArray[np.int64]
    ) -> None:
        self._sparse_columns.append((row + self.count, node, value))

    def _count(self, profiles: int) -> None:
        self.count += profiles
        size = self.count * self._forest.nodes.count
        if size > self._max_values:
            raise TooLarge(LIMIT, size, self._max_values)
