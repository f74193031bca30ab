"""Merging is exact, in any order and any grouping."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge, merge
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import encode
from profiles.engine.errors import BadProfile, TooLarge
from tests.examples import examples
from tests.profiles.engine.grouped_trees import by_function
from tests.profiles.engine.random_trees import meaning, tree_of, trees
from tests.profiles.pprofs import EXAMPLE

few = settings(max_examples=examples(100), deadline=None)
LISTS = st.lists(trees(), max_size=5)


@few
@given(LISTS)
def test_the_total_is_the_sum_of_the_totals(parts: list[Tree]) -> None:
    whole = merge(parts)
    for k, metric in enumerate(whole.metrics):
        sums = [int(p.self[p.metrics.index(metric)].sum()) for p in parts if metric in p.metrics]
        assert int(whole.self[k].sum()) == sum(sums)


@few
@given(LISTS, st.randoms())
def test_order_does_not_matter(parts: list[Tree], rng: "st.random.Random") -> None:  # type: ignore[name-defined]
    shuffled = [*parts]
    rng.shuffle(shuffled)
    assert meaning(merge(shuffled)) == meaning(merge(parts))


@few
@given(LISTS, st.integers(0, 5))
def test_merging_is_associative(parts: list[Tree], cut: int) -> None:
    halves = merge([merge(parts[:cut]), merge(parts[cut:])])
    assert meaning(halves) == meaning(merge(parts))


@few
@given(trees())
def test_merging_an_empty_tree_changes_nothing(tree: Tree) -> None:
    assert meaning(merge([tree])) == meaning(tree)
    assert meaning(merge([tree, merge([])])) == meaning(tree)


@few
@given(LISTS)
def test_grouping_and_merging_commute(parts: list[Tree]) -> None:
    before = merge([by_function(part) for part in parts])
    assert meaning(before) == meaning(by_function(merge(parts)))


@few
@given(LISTS)
def test_stored_trees_merge_like_those_in_memory(parts: list[Tree]) -> None:
    metrics = merge(parts).metrics
    stored = Merge(metrics, by_function=True)
    for part in parts:
        stored.add_encoded(encode(part))
    assert meaning(stored.tree()) == meaning(by_function(merge(parts)))


def test_lines_are_dropped_by_function() -> None:
    grouped = by_function(tree_of(EXAMPLE))
    assert set(grouped.frames.line.tolist()) == {0}
    assert int(grouped.self.sum()) == 9_000


def test_sums_beyond_64_bits_are_rejected() -> None:
    half = tree_of({"main": 2**62})
    assert int(merge([half]).self.sum()) == 2**62
    with pytest.raises(BadProfile, match="64 bits"):
        merge([half, half])


def test_too_many_nodes_are_rejected_with_the_limit() -> None:
    tree = tree_of(EXAMPLE)
    small = Merge(tree.metrics, max_nodes=4)
    with pytest.raises(TooLarge, match="max_nodes"):
        small.add_tree(tree)


def test_deep_trees_merge() -> None:
    deep = tree_of({";".join(f"f{i}" for i in range(10_000)): 1})
    assert np.array_equal(merge([deep, deep]).self[0], 2 * merge([deep]).self[0])
