"""Steps: a merge that keeps a column of sums for each step of time, and functions over them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.functions import TreeFunctions, functions_of, names_of
from profiles.engine.calltree.merge import MAX_NODES, Merge
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.preorder_columns import totals
from profiles.engine.loops import outermost
from profiles.engine.metrics import Metric

MAX_CELLS = 32_000_000  # steps × nodes: 256 MB


class TimeSeriesMerge(Merge):
    """A merge by function in one metric; what is added counts in the step that `step` says.

    Its tree has the steps for metrics. More nodes times steps than MAX_CELLS are TooLarge.
    """

    def __init__(self, metric: Metric, steps: int, profile_type: str = "") -> None:
        columns = [Metric(str(step), metric.unit) for step in range(steps)]
        super().__init__(columns, True, min(MAX_NODES, MAX_CELLS // steps), profile_type)
        self.metric = metric
        self.step = 0

    def _columns(self, metrics: Sequence[Metric]) -> tuple[list[int], NDArray[np.int32]]:
        kept = [k for k, metric in enumerate(metrics) if metric == self.metric]
        return kept, np.full(len(kept), self.step, np.int32)


@dataclass(frozen=True, slots=True)
class FunctionSeries:
    """A function's sums in each of T steps; recursion counted once."""

    name: str
    file: str
    self: list[int]
    total: list[int]


class SeriesByFunction:
    """The functions of a tree whose metrics are steps."""

    def __init__(self, tree: Tree) -> None:
        self.functions: TreeFunctions = functions_of(tree)
        self.names, self.files = names_of(tree, self.functions)
        self._tree = tree
        count = len(self.functions.id)
        self._outermost = outermost(tree.parent, self.functions.of_node, count) != 0

    def top(self, count: int, wanted: Callable[[str], bool]) -> list[int]:
        """The functions with the greatest self value in all, of those whose name is wanted."""
        own = np.zeros(len(self.functions.id), np.int64)
        np.add.at(own, self.functions.of_node, self._tree.self.sum(axis=0))
        order = np.lexsort((self.functions.id, -own)).tolist()
        found = (f for f in order if own[f] and wanted(self.names[f]))
        return [f for f, _ in zip(found, range(count), strict=False)]

    def named(self, name: str) -> list[int]:
        """The functions of this name, whatever their files, in order of these."""
        found = [f for f, other in enumerate(self.names) if other == name]
        return sorted(found, key=self.files.__getitem__)

    def of(self, functions: Sequence[int]) -> list[FunctionSeries]:
        total = np.array([totals(self._tree.parent, row) for row in self._tree.self])
        return [self._of(function, total) for function in functions]

    def _of(self, function: int, total: NDArray[np.int64]) -> FunctionSeries:
        calls = self.functions.of_node == function
        return FunctionSeries(
            self.names[function],
            self.files[function],
            self._tree.self[:, calls].sum(axis=1).tolist(),
            total[:, calls & self._outermost].sum(axis=1).tolist(),
        )
