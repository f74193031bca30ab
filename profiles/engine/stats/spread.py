"""Sums of profiles with the variation of their nodes and functions."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.forest import mark_outermost, node_totals
from profiles.engine.calltree.functions import TreeFunctions, find_functions
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.metrics import Metric
from profiles.engine.stats.sum_of_squares import TreeVariance


@dataclass(frozen=True, slots=True)
class Spread:
    """Variation of the totals of M quantities over profiles."""

    squares: NDArray[np.float64]  # [M], Σtotal²
    present: NDArray[np.int64]  # [M], profiles in which the total is not zero


@dataclass(frozen=True, slots=True)
class MeasuredSum:
    """Sum of profiles, with the variation by node and by function."""

    profiles: int
    tree: Tree  # sum of the profiles, for one metric
    nodes: Spread  # of each node of the tree
    functions: TreeFunctions
    by_function: Spread  # of each of `functions`; recursion counts once
    self_by_function: Spread  # of the self values of each of `functions`
    whole: Spread  # of the total of all nodes, [1]: a tree may have several roots


def measure_variance(
    variance: TreeVariance, profiles: int, check: Check = never_cancel
) -> MeasuredSum:
    """Convert the result of a VarianceMerge of `profiles` profiles."""
    functions, of_frame = find_functions(variance.tree, check), variance.functions
    by_function = Spread(
        of_frame.total_square[functions.frame], of_frame.total_present[functions.frame]
    )
    self_by_function = Spread(
        of_frame.self_square[functions.frame], of_frame.self_present[functions.frame]
    )
    nodes = Spread(variance.nodes.square, variance.nodes.present)
    whole = Spread(variance.whole.square, variance.whole.present)
    return MeasuredSum(
        profiles, variance.tree, nodes, functions, by_function, self_by_function, whole
    )


def measure_rows(
    tree: Tree, metric: Metric, rows: slice, check: Check = never_cancel
) -> MeasuredSum:
    """Convert some rows of a PerProfile tree, which may have been transformed.

    Transformations are linear in a tree's values, so they apply to all profiles at once.
    """
    own, functions = tree.self[rows], find_functions(tree, check)
    outer = np.flatnonzero(mark_outermost(tree.parent, functions.of_node, len(functions.id)))
    calls = functions.of_node[outer]
    count = len(functions.id)
    nodes, whole = _Sums(len(tree.id)), _Sums(1)
    by_function, self_by_function = _Sums(count), _Sums(count)
    for row in own:
        check()
        total = node_totals(tree.parent, np.ascontiguousarray(row)).astype(np.float64)
        nodes.add(total)
        whole.add(row.sum(keepdims=True).astype(np.float64))
        by_function.add(np.asarray(np.bincount(calls, total[outer], count), float))
        self_by_function.add(np.asarray(np.bincount(functions.of_node, row, count), float))
    summed = replace(tree, metrics=(metric,), self=own.sum(axis=0, keepdims=True))
    spreads = by_function.spread(), self_by_function.spread(), whole.spread()
    return MeasuredSum(len(own), summed, nodes.spread(), functions, *spreads)


class _Sums:
    def __init__(self, count: int) -> None:
        self.squares = np.zeros(count)
        self.present = np.zeros(count, np.int64)

    def add(self, totals: NDArray[np.float64]) -> None:
        self.squares += totals**2
        self.present += totals != 0

    def spread(self) -> Spread:
        return Spread(self.squares, self.present)
