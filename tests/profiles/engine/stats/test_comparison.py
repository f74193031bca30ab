"""Comparison of two sides, node by node."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge
from profiles.engine.calltree.align import align
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.tree import Tree
from profiles.engine.metrics import Metric
from profiles.engine.stats.comparison import ComparedTrees, compare_trees, mean_widths
from profiles.engine.stats.per_profile import PerProfile
from profiles.engine.stats.significance import differences
from profiles.engine.stats.spread import MeasuredSum, measure_rows
from tests.examples import examples
from tests.profiles.engine.grouped_trees import by_function
from tests.profiles.engine.random_trees import folded, meaning, tree_of, trees
from tests.profiles.engine.stats.simulated_profiles import sample_variance
from tests.profiles.pprofs import Stacks

few = settings(max_examples=examples(100), deadline=None)
CPU = Metric("cpu", "nanoseconds")
SIDES = st.lists(folded(), min_size=8, max_size=14)


def side(parts: Sequence[Stacks]) -> MeasuredSum:
    apart = PerProfile(CPU, by_function=True)
    for part in parts:
        apart.add_tree(tree_of(part))
    return measure_rows(apart.tree(), CPU, slice(None))


def between(a: Sequence[Stacks], b: Sequence[Stacks]) -> ComparedTrees:
    return compare_trees(side(a), side(b))


def one_metric(tree: Tree) -> Tree:
    merge = Merge([CPU])
    merge.add_tree(tree)
    return merge.tree()


@few
@given(trees(), trees(), st.booleans())
def test_each_side_of_aligned_trees_equals_its_tree(a: Tree, b: Tree, lines: bool) -> None:
    a, b = (one_metric(tree) if lines else by_function(one_metric(tree)) for tree in (a, b))
    both, node_of_b = align(a, b)
    assert len(set(both.id.tolist())) == len(both.id)
    assert (both.parent < np.arange(len(both.id))).all()
    assert both.id[node_of_b].tolist() == b.id.tolist()
    for k, one in enumerate((a, b)):
        there = {path: v for (_, path), v in meaning(one)["own"].items()}  # type: ignore[attr-defined]
        halves = Tree((CPU,), both.frames, both.id, both.parent, both.frame, both.self[k : k + 1])
        assert {path: v for (_, path), v in meaning(halves)["own"].items()} == there  # type: ignore[attr-defined]


@few
@given(SIDES, SIDES)
def test_intervals_are_those_of_the_profiles_totals(a: list[Stacks], b: list[Stacks]) -> None:
    """Check that sums of squares give the same intervals as all totals of all profiles."""
    found = between(a, b)
    rows = [totals_by_id(found.tree, parts) for parts in (a, b)]
    expected = differences(sample_variance(rows[0]), sample_variance(rows[1]))
    assert found.nodes.low == pytest.approx(expected.low, rel=1e-6, abs=1e-6, nan_ok=True)
    assert found.nodes.high == pytest.approx(expected.high, rel=1e-6, abs=1e-6, nan_ok=True)


@few
@given(SIDES, SIDES)
def test_the_interval_of_the_whole_is_that_of_the_profiles_sums(
    a: list[Stacks], b: list[Stacks]
) -> None:
    """Check trees with several roots, whose sums no single node has."""
    found = between(a, b)
    sums = [
        np.array([[sum(np.sum(value) for value in part.values()) for part in parts]])
        for parts in (a, b)
    ]
    expected = differences(sample_variance(sums[0]), sample_variance(sums[1]))
    assert found.whole.low == pytest.approx(expected.low, rel=1e-6, abs=1e-6, nan_ok=True)
    assert found.whole.high == pytest.approx(expected.high, rel=1e-6, abs=1e-6, nan_ok=True)
    tested = found.functions.tested.q[~np.isnan(found.functions.tested.q)]
    assert np.isnan(found.whole.q[0]) or found.whole.q[0] >= (tested.min() if len(tested) else 1)


def totals_by_id(
    tree: Tree, parts: list[Stacks]
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Return the total of each node of the tree in each profile, [N, P]."""
    at = {node: i for i, node in enumerate(tree.id.tolist())}
    found = np.zeros((len(at), len(parts)))
    for p, part in enumerate(parts):
        one = by_function(tree_of(part))
        for node, total in zip(one.id.tolist(), totals(one.parent, one.self[0]), strict=True):
            found[at[node], p] = total
    return found


@pytest.mark.slow
@few
@given(SIDES, SIDES)
def test_swapped_sides_differ_the_other_way_round(a: list[Stacks], b: list[Stacks]) -> None:
    there, back = between(a, b), between(b, a)
    order = [np.argsort(found.tree.id) for found in (there, back)]
    assert there.nodes.low[order[0]] == pytest.approx(-back.nodes.high[order[1]], nan_ok=True)
    assert there.nodes.q[order[0]] == pytest.approx(back.nodes.q[order[1]], nan_ok=True)
    assert there.tree.self[:, order[0]].tolist() == back.tree.self[::-1, order[1]].tolist()
    assert there.functions.total.tolist() == back.functions.total[::-1].tolist()


@few
@given(SIDES)
def test_a_side_does_not_differ_from_itself(parts: list[Stacks]) -> None:
    found = between(parts, parts)
    assert not (found.nodes.q < 1).any()
    assert not (found.functions.tested.q < 1).any()
    assert found.nodes.low == pytest.approx(-found.nodes.high, nan_ok=True)


def test_a_side_without_profiles_has_no_tests() -> None:
    found = between([{"main;work": 5}] * 20, [])
    assert found.tree.self.tolist() == [[0, 100], [0, 0]]
    assert np.isnan(found.nodes.q).all()
    nothing = between([], [])
    assert nothing.tree.self.shape == (2, 0)


def test_functions_have_sums_of_both_sides_and_changed_ones_are_significant() -> None:
    a = [{"main;work": 100 + i % 7, "main;rest": 50 + i % 5} for i in range(40)]
    b = [{"main;work": 120 + i % 7, "main;rest": 50 + i % 5, "new": 9} for i in range(40)]
    found = between(a, b)
    names = found.functions.names
    real = {n for n, q in zip(names, found.functions.tested.q.tolist(), strict=True) if q <= 0.05}
    assert real == {"main", "work", "new"}
    row = names.index("work")
    assert found.functions.total[:, row].tolist() == [
        sum(part["main;work"] for part in parts) for parts in (a, b)
    ]
    assert found.functions.tested.low[row] < -20 < found.functions.tested.high[row]


def test_widths_are_means_of_both_sides() -> None:
    tree, _ = align(tree_of({"a": 10, "b": 30}), tree_of({"a": 200, "c": 100}))
    widths = mean_widths(tree, (1, 10))
    assert (70 * widths / 2**53).tolist() == pytest.approx([30, 30, 10])
    assert mean_widths(tree, (0, 0)).sum() == pytest.approx(2.0**53)
