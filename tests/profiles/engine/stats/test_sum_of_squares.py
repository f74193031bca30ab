"""Sums of squares of profiles equal those of the single profiles, for one or two sides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.calltree.functions import get_names
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.top import top
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import encode
from profiles.engine.metrics import Metric
from profiles.engine.stats.per_profile import PerProfile
from profiles.engine.stats.spread import MeasuredSum, measure_rows, measure_variance
from profiles.engine.stats.sum_of_squares import VarianceMerge
from tests.examples import examples
from tests.profiles.engine.grouped_trees import by_function
from tests.profiles.engine.random_trees import tree_of, trees

few = settings(max_examples=examples(100), deadline=None)
CPU = Metric("cpu", "nanoseconds")
LISTS = st.lists(trees(), max_size=5)
VarianceByFrame = dict[object, tuple[float, int]]


def by_brute_force(parts: list[Tree], metric: Metric) -> tuple[VarianceByFrame, VarianceByFrame]:
    """Return (Σ total², profiles) by node id, and by (name, file)."""
    nodes: dict[object, list[int]] = {}
    functions: dict[object, list[int]] = {}
    for part in map(by_function, parts):
        if metric not in part.metrics:
            continue
        k = part.metrics.index(metric)
        total = totals(part.parent, part.self[k]).tolist()
        for node_id, value in zip(part.id.tolist(), total, strict=True):
            nodes.setdefault(node_id, []).append(value)
        for row in top(part, k):
            functions.setdefault((row.name, row.file), []).append(row.total)
    return _sums(nodes), _sums(functions)


def _sums(found: dict[object, list[int]]) -> VarianceByFrame:
    return {
        key: (float(sum(v * v for v in values)), sum(v != 0 for v in values))
        for key, values in found.items()
        if any(values)
    }


def get_by_key(found: MeasuredSum) -> tuple[VarianceByFrame, VarianceByFrame]:
    names = zip(*get_names(found.tree, found.functions), strict=True)
    nodes = zip(found.nodes.squares.tolist(), found.nodes.present.tolist(), strict=True)
    functions = zip(
        found.by_function.squares.tolist(), found.by_function.present.tolist(), strict=True
    )
    return (
        {k: v for k, v in zip(found.tree.id.tolist(), nodes, strict=True) if v[1]},
        {k: v for k, v in zip(names, functions, strict=True) if v[1]},
    )


def approximately(variance: VarianceByFrame) -> dict[object, object]:
    return {k: (pytest.approx(v[0], rel=1e-9), v[1]) for k, v in variance.items()}


@pytest.mark.slow
@few
@given(LISTS, st.integers(0, 5))
def test_two_sides_in_separate_rows_of_one_merge(parts: list[Tree], cut: int) -> None:
    for metric in sorted({m for part in parts for m in part.metrics}):
        both = PerProfile(metric)
        for part in parts:
            both.add_tree(part)
        for side, rows in ((parts[:cut], slice(cut)), (parts[cut:], slice(cut, None))):
            found = measure_rows(both.tree(), metric, rows)
            nodes, functions = by_brute_force(side, metric)
            assert found.profiles == len(side)
            assert get_by_key(found) == (approximately(nodes), approximately(functions))


@few
@given(LISTS)
def test_a_merge_of_encoded_trees_has_the_variance_of_its_parts(parts: list[Tree]) -> None:
    merge = VarianceMerge(CPU)
    for part in parts:
        merge.add_encoded(encode(part))
    nodes, functions = by_brute_force(parts, CPU)
    found = measure_variance(merge.variance(), len(parts))
    assert get_by_key(found) == (approximately(nodes), approximately(functions))
    wholes = [
        int(part.self[part.metrics.index(CPU)].sum()) for part in parts if CPU in part.metrics
    ]
    assert found.whole.squares[0] == pytest.approx(float(sum(v * v for v in wholes)), rel=1e-9)
    assert found.whole.present.tolist() == [sum(v != 0 for v in wholes)]


def test_recursion_counts_once() -> None:
    apart = PerProfile(CPU)
    apart.add_tree(tree_of({"main;walk;walk;walk": 3, "main;walk": 4}))
    apart.add_tree(tree_of({"walk;main;walk": 5}))
    found = measure_rows(apart.tree(), CPU, slice(None))
    rows = dict(zip(get_names(found.tree, found.functions)[0], range(2), strict=True))
    assert found.by_function.squares[rows["walk"]] == 7**2 + 5**2
    assert found.by_function.present[rows["main"]] == 2


def test_deep_stacks_are_measured() -> None:
    apart = PerProfile(CPU)
    for _ in range(2):
        apart.add_tree(tree_of({";".join(f"f{i}" for i in range(10_000)): 3}))
    found = measure_rows(apart.tree(), CPU, slice(None))
    assert np.array_equal(found.nodes.squares, np.full(10_000, 18.0))
