"""Comparison of two sums of profiles, with the significance of their differences."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree import subtree
from profiles.engine.calltree.align import align
from profiles.engine.calltree.functions import find_functions, get_names
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.top import function_sums
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.stats.significance import (
    SampleVariance,
    apply_gate,
    differences,
    false_discoveries,
)
from profiles.engine.stats.spread import MeasuredSum, Spread

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TestedDifferences:
    """Tests of differences a - b of per-profile means, [M]; NaN if not tested."""

    low: Floats  # 95 % interval
    high: Floats
    p: Floats  # two-sided
    q: Floats


@dataclass(frozen=True, slots=True)
class FunctionPairs:
    """U functions of both sides; sums are int64 [2, U], of a and of b, recursion counted once."""

    id: NDArray[np.uint64]  # [U], ascending
    names: list[str]
    files: list[str]
    self: NDArray[np.int64]
    total: NDArray[np.int64]
    tested: TestedDifferences  # of the totals
    tested_self: TestedDifferences


@dataclass(frozen=True, slots=True)
class ComparedTrees:
    """Comparison of two trees by node and by function."""

    tree: Tree  # nodes of both sides; `self` is [2, N]: sums of a, sums of b
    nodes: TestedDifferences
    functions: FunctionPairs
    whole: TestedDifferences  # of the total of all nodes, [1]


def compare_trees(a: MeasuredSum, b: MeasuredSum, check: Check = never_cancel) -> ComparedTrees:
    """Compare the sides `a` and `b`, which have the same metric; b is the baseline."""
    tree, node_of_b = align(a.tree, b.tree, check)
    found = pairs(tree, check)
    total = [totals(tree.parent, own, check).astype(np.float64) for own in tree.self]
    nodes = differences(
        _sample_variance(a.profiles, total[0], a.nodes, np.arange(len(a.tree.id))),
        _sample_variance(b.profiles, total[1], b.nodes, node_of_b),
        check,
    )
    ids = found.id
    of_a, of_b = (np.searchsorted(ids, side.functions.id) for side in (a, b))
    functions = differences(
        _sample_variance(a.profiles, found.total[0], a.by_function, of_a),
        _sample_variance(b.profiles, found.total[1], b.by_function, of_b),
        check,
    )
    own = differences(
        _sample_variance(a.profiles, found.self[0], a.self_by_function, of_a),
        _sample_variance(b.profiles, found.self[1], b.self_by_function, of_b),
        check,
    )
    sums = tree.self.sum(axis=1, keepdims=True)
    whole = differences(
        SampleVariance(a.profiles, sums[0].astype(np.float64), *_columns(a.whole)),
        SampleVariance(b.profiles, sums[1].astype(np.float64), *_columns(b.whole)),
        check,
    )
    gate = false_discoveries(functions.p, check)
    q, q_whole, q_self = (
        apply_gate(false_discoveries(family.p, check), gate) for family in (nodes, whole, own)
    )
    found = replace(
        found,
        tested=TestedDifferences(*functions, gate),
        tested_self=TestedDifferences(*own, q_self),
    )
    return ComparedTrees(
        tree,
        TestedDifferences(*nodes, q),
        found,
        TestedDifferences(*whole, q_whole),
    )


def pairs(tree: Tree, check: Check = never_cancel) -> FunctionPairs:
    """Return the functions of a tree with self values [2, N], without tests."""
    functions = find_functions(tree, check)
    count = len(functions.id)
    sums = np.array([function_sums(tree, functions.of_node, count, side, check) for side in (0, 1)])
    names, files = get_names(tree, functions)
    untested = build_untested(count)
    return FunctionPairs(functions.id, names, files, sums[:, 0], sums[:, 1], untested, untested)


def build_untested(count: int) -> TestedDifferences:
    """Return `count` rows without tests: NaN."""
    return TestedDifferences(*np.full((4, count), np.nan))


def combine_inverted(found: ComparedTrees, called: ComparedTrees) -> ComparedTrees:
    """Combine a comparison of inverted stacks with the functions of the stacks as called."""
    q = apply_gate(found.nodes.q, called.functions.tested.q)
    return ComparedTrees(found.tree, replace(found.nodes, q=q), called.functions, called.whole)


def below(found: ComparedTrees, node: int, check: Check = never_cancel) -> ComparedTrees:
    """Restrict a comparison to the subtree of a node, which becomes the root.

    Tests are unchanged; a function keeps its test of the total, or of self, only if that value is
    entirely in the subtree.
    """
    tree = subtree.below(found.tree, node, check)
    functions = pairs(tree, check)
    position = np.searchsorted(found.functions.id, functions.id)
    of_total = (functions.total == found.functions.total[:, position]).all(axis=0)
    of_self = (functions.self == found.functions.self[:, position]).all(axis=0)
    functions = replace(
        functions,
        tested=_keep_tests(found.functions.tested, position, of_total),
        tested_self=_keep_tests(found.functions.tested_self, position, of_self),
    )
    nodes = _select_tests(found.nodes, found.tree, tree)
    root = np.flatnonzero(tree.parent < 0)
    whole = _index_tests(nodes, root)
    return ComparedTrees(tree, nodes, functions, whole)


def fold(
    found: ComparedTrees, profiles: tuple[int, int], max_nodes: int, check: Check = never_cancel
) -> tuple[ComparedTrees, subtree.Folded]:
    """Keep the nodes with the greatest mean widths, like subtree.fold.

    The folded totals are those of both sides together.
    """
    tree = found.tree
    cut, folded = subtree.fold(build_drawn(tree, profiles), max_nodes, check)
    if len(cut.id) == len(tree.id):
        return found, {}
    inside = np.isin(tree.id, cut.id)
    a, b = (_left_out(tree, side, cut, inside, check) for side in (0, 1))
    shown = replace(cut, self=tree.self[:, inside], metrics=tree.metrics)
    return (
        ComparedTrees(shown, _select_tests(found.nodes, tree, shown), found.functions, found.whole),
        {node: (count, int(a[node]) + int(b[node])) for node, (count, _) in folded.items()},
    )


def _left_out(
    tree: Tree, side: int, cut: Tree, inside: NDArray[np.bool_], check: Check
) -> NDArray[np.int64]:
    """Return the total of each node's removed children on one side.

    Totals of both sides together may exceed 64 bits.
    """
    total = totals(tree.parent, tree.self[side], check)[inside]
    rest: NDArray[np.int64] = total - tree.self[side][inside]
    children = np.flatnonzero(cut.parent >= 0)
    np.subtract.at(rest, cut.parent[children], total[children])
    return rest


def build_drawn(tree: Tree, profiles: tuple[int, int]) -> Tree:
    """Return the tree as drawn: with one metric, the mean widths."""
    return replace(tree, metrics=tree.metrics[:1], self=mean_widths(tree, profiles)[np.newaxis])


def _select_tests(tested: TestedDifferences, whole: Tree, part: Tree) -> TestedDifferences:
    """Select the tests of the nodes of `part`, which are in the order of `whole`."""
    inside = np.isin(whole.id, part.id)
    return _index_tests(tested, np.flatnonzero(inside))


def _keep_tests(
    tested: TestedDifferences, position: NDArray[np.int64], is_tested: NDArray[np.bool_]
) -> TestedDifferences:
    """Select the tests at positions; where nothing was tested they become NaN."""
    columns = tested.low, tested.high, tested.p, tested.q
    return TestedDifferences(*(np.where(is_tested, column[position], np.nan) for column in columns))


def _index_tests(tested: TestedDifferences, index: NDArray[np.int64]) -> TestedDifferences:
    columns = tested.low, tested.high, tested.p, tested.q
    return TestedDifferences(*(column[index] for column in columns))


def mean_widths(tree: Tree, profiles: tuple[int, int]) -> NDArray[np.int64]:
    """Return both sides' mean self values summed by node, [N], scaled to use most of 53 bits.

    Trees of two sides are folded and ordered by it; displayed values are computed from the sums.
    """
    means = tree.self[0] / max(profiles[0], 1) + tree.self[1] / max(profiles[1], 1)
    largest = float(np.abs(means).sum())
    widths: NDArray[np.int64] = np.rint(means * (2.0**53 / (largest or 1.0))).astype(np.int64)
    return widths


def _columns(spread: Spread) -> tuple[Floats, NDArray[np.int64]]:
    return spread.squares, spread.present


def _sample_variance(
    profiles: int,
    sums: NDArray[np.int64] | Floats,
    spread: Spread,
    index: NDArray[np.int64],
) -> SampleVariance:
    squares, present = np.zeros(len(sums)), np.zeros(len(sums), np.int64)
    squares[index], present[index] = spread.squares, spread.present
    return SampleVariance(profiles, sums.astype(np.float64), squares, present)
