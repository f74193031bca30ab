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


def select_callers(
    callers: NDArray[np.int64], chosen: NDArray[np.int64], order: Sequence[int]
) -> NDArray[np.int64]:
    """Return the position in `chosen` of each chosen function's nearest chosen caller, -1 without.

    `callers` has the caller of each function, -1 without one. In the result there are no cycles:
    `order` has the positions in the order in which they get their callers.
    """
    position = np.full(len(callers), -1, np.int64)
    position[chosen] = np.arange(len(chosen))
    nearest = np.full(len(chosen), -1, np.int64)
    for number, function in enumerate(chosen.tolist()):
        above, passed = int(callers[function]), {function}
        while above >= 0 and above not in passed and position[above] < 0:
            passed.add(above)
            above = int(callers[above])
        if above >= 0 and above not in passed:
            nearest[number] = position[above]
    return _break_cycles(nearest, order)


def _break_cycles(callers: NDArray[np.int64], order: Sequence[int]) -> NDArray[np.int64]:
    """Return the callers without those that would close a cycle, of functions added in `order`."""
    acyclic = np.full(len(callers), -1, np.int64)
    for function in order:
        above = int(callers[function])
        while above not in {-1, function}:
            above = int(acyclic[above])
        if above == -1:
            acyclic[function] = callers[function]
    return acyclic


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

    def sum_all(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the self values and totals of all functions, each [F, T]."""
        shape = (len(self.functions.id), len(self._tree.self))
        own, total = np.zeros(shape), np.zeros(shape)
        calls = self.functions.of_node[self._outermost]
        for step, row in enumerate(self._tree.self):
            self._check()
            own[:, step] = np.bincount(self.functions.of_node, row, len(own))
            below = totals(self._tree.parent, row, self._check)
            total[:, step] = np.bincount(calls, below[self._outermost], len(own))
        return own, total

    def find_main_callers(self) -> NDArray[np.int64]:
        """Return the caller with the greatest part of each function's total, [F].

        -1: most of it has no caller, or the caller would close a cycle. Functions with greater
        totals choose first.
        """
        tree, functions, count = self._tree, self.functions, len(self.functions.id)
        total = totals(tree.parent, tree.self.sum(axis=0), self._check)[self._outermost]
        parent = tree.parent[self._outermost]
        caller = np.where(parent >= 0, functions.of_node[parent], -1).astype(np.int64)
        called = functions.of_node[self._outermost].astype(np.int64)
        pairs, inverse = np.unique(called * (count + 1) + caller + 1, return_inverse=True)
        values = np.bincount(inverse, total, len(pairs))
        callers = np.full(count, -1, np.int64)
        for pair in pairs[np.argsort(values, kind="stable")].tolist():  # the greatest is last
            callers[pair // (count + 1)] = pair % (count + 1) - 1
        order = np.argsort(-np.bincount(called, total, count), kind="stable")
        return _break_cycles(callers, order.tolist())

    def _build_series(self, function: int, total: NDArray[np.int64]) -> FunctionSeries:
        calls = self.functions.of_node == function
        return FunctionSeries(
            self.names[function],
            self.files[function],
            self._tree.self[:, calls].sum(axis=1).tolist(),
            total[:, calls & self._outermost].sum(axis=1).tolist(),
        )
