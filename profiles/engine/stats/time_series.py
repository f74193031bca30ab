"""Merge with a column of sums for each time step, and time series of functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.accumulators.merge import MAX_NODES, Merge
from profiles.engine.calltree.forest import mark_outermost
from profiles.engine.calltree.functions import TreeFunctions, find_functions, get_names
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.metrics import Metric

MAX_CELLS = 32_000_000  # steps × nodes: 256 MB


class TimeSeriesMerge(Merge):
    """Merge by function in one metric; inputs are added to the column of the current `step`.

    The resulting tree has the steps as metrics. Raise `TooLarge` if nodes × steps exceeds
    MAX_CELLS.
    """

    def __init__(
        self, metric: Metric, steps: int, profile_type: str = "", check: Check = never_cancel
    ) -> None:
        columns = [Metric(str(step), metric.unit) for step in range(steps)]
        super().__init__(columns, True, min(MAX_NODES, MAX_CELLS // steps), profile_type, check)
        self.metric = metric
        self.step = 0

    def _columns(self, metrics: Sequence[Metric]) -> tuple[list[int], NDArray[np.int32]]:
        indexes = [k for k, metric in enumerate(metrics) if metric == self.metric]
        return indexes, np.full(len(indexes), self.step, np.int32)


@dataclass(frozen=True, slots=True)
class FunctionSeries:
    """Sums of a function in each of T steps; recursion counts once."""

    name: str
    file: str
    self: list[int]
    total: list[int]


class SeriesByFunction:
    """Functions of a tree whose metrics are time steps."""

    def __init__(self, tree: Tree, check: Check = never_cancel) -> None:
        self.functions: TreeFunctions = find_functions(tree, check)
        self._check = check
        self.names, self.files = get_names(tree, self.functions)
        self._tree = tree
        count = len(self.functions.id)
        self._outermost = mark_outermost(tree.parent, self.functions.of_node, count) != 0

    def top(self, count: int, matches: Callable[[str], bool]) -> list[int]:
        """Return the `count` functions with the greatest self values, filtered by `matches`(name).

        Self values are summed over all steps; functions without a self value are left out.
        """
        own = np.zeros(len(self.functions.id), np.int64)
        np.add.at(own, self.functions.of_node, self._tree.self.sum(axis=0))
        order = np.lexsort((self.functions.id, -own)).tolist()
        found = (f for f in order if own[f] and matches(self.names[f]))
        return [f for f, _ in zip(found, range(count), strict=False)]

    def find_named(self, name: str) -> list[int]:
        """Return the functions with this name, in any file, sorted by file."""
        found = [f for f, other in enumerate(self.names) if other == name]
        return sorted(found, key=self.files.__getitem__)

    def select(self, functions: Sequence[int]) -> list[FunctionSeries]:
        """Return the time series of these functions, by index."""
        total = np.array([totals(self._tree.parent, row, self._check) for row in self._tree.self])
        return [self._build_series(function, total) for function in functions]

    def _build_series(self, function: int, total: NDArray[np.int64]) -> FunctionSeries:
        calls = self.functions.of_node == function
        return FunctionSeries(
            self.names[function],
            self.files[function],
            self._tree.self[:, calls].sum(axis=1).tolist(),
            total[:, calls & self._outermost].sum(axis=1).tolist(),
        )
