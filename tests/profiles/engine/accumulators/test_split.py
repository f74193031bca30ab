"""Split trees add up to the tree that was split, whatever the label and the form of the trees."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge, merge
from profiles.engine.accumulators.split import NOT_SET, SplitMerge, split
from profiles.engine.calltree.invert import bottom_up
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import encode
from profiles.engine.errors import TooLarge
from tests.examples import examples
from tests.profiles.engine.explicit_stacks import stacks_of
from tests.profiles.engine.random_trees import tree_of, trees

few = settings(max_examples=examples(100), deadline=None)


def label_of(parts: list[Tree]) -> str:
    """Return the most frequent label of the samples."""
    sets = [each for part in parts if part.labelled for each in part.labelled.label_sets]
    keys = Counter(label.key for labels in sets for label in labels if label.key)
    return keys.most_common(1)[0][0] if keys else "absent"


def own_by_stack(tree: Tree, below: int = 0) -> dict[object, tuple[int, ...]]:
    """Sum the self values by stack, without its first `below` frames and without zeros."""
    sums: dict[object, np.ndarray] = {}
    for path, values in stacks_of(tree)[0].items():
        stack = path[below:]
        sums[stack] = sums.get(stack, np.zeros(len(values), np.int64)) + np.array(values)
    return {stack: tuple(sum_.tolist()) for stack, sum_ in sums.items() if sum_.any()}


@few
@given(st.lists(trees(), min_size=1, max_size=4), st.booleans(), st.booleans(), st.integers(1, 3))
def test_the_roots_add_up_to_the_whole(
    parts: list[Tree], by_function: bool, is_stored: bool, most: int
) -> None:
    metrics = merge(parts).metrics[:1] if is_stored else merge(parts).metrics
    name = label_of(parts)
    whole, kept_apart = Merge(metrics, by_function), SplitMerge(metrics, by_function, name)
    for part in parts:
        whole.add_tree(part)
        if is_stored:
            kept_apart.add_encoded(encode(part))
        else:
            kept_apart.add_tree(part)
    found = split(kept_apart.tree(), name, most)
    assert own_by_stack(found, below=1) == own_by_stack(whole.tree())
    roots = found.frame[found.parent < 0]
    assert found.frames.is_label is not None
    assert found.frames.is_label[roots].all()
    assert not found.frames.is_label[found.frame[found.parent >= 0]].any()
    assert len(roots) <= most + 2
    texts = [found.frames.strings[i] for i in found.frames.name[roots].tolist()]
    assert len(set(texts)) == len(texts)
    assert len(set(found.id.tolist())) == len(found.id)
    inverted = bottom_up(found)
    assert inverted.self.sum() == whole.tree().self.sum()
    assert {inverted.frames.strings[inverted.frames.name[i]] for i in _roots(inverted)} <= {*texts}


def _roots(tree: Tree) -> list[int]:
    roots: list[int] = tree.frame[tree.parent < 0].tolist()
    return roots


@few
@given(st.lists(trees(), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_values_of_profiles_have_the_trees_of_their_profiles(
    parts: list[Tree], by_function: bool, is_stored: bool
) -> None:
    metrics = merge(parts).metrics[:1]
    values = ["a", "", "b", "a"][: len(parts)]
    kept_apart = SplitMerge(metrics, by_function, "instance", of_profiles=True)
    for part, value in zip(parts, values, strict=True):
        kept_apart.value = value
        if is_stored:
            kept_apart.add_encoded(encode(part))
        else:
            kept_apart.add_tree(part)
    found = own_by_stack(split(kept_apart.tree(), "instance"))
    expected: dict[object, tuple[int, ...]] = {}
    for value in {*values}:
        of_value = Merge(metrics, by_function)
        for part, own in zip(parts, values, strict=True):
            if own == value:
                of_value.add_tree(part)
        root = (f"instance: {value or NOT_SET}", "", 0)
        stacks = own_by_stack(of_value.tree()).items()
        expected.update({(root, *stack): sums for stack, sums in stacks})  # type: ignore[misc]
    assert found == expected


def test_the_nodes_of_a_split_tree_are_limited() -> None:
    tree = tree_of({"main;a": 1, "main;b": 1})
    with pytest.raises(TooLarge):
        split(tree, "x", max_nodes=3)
    assert len(split(tree, "x", max_nodes=4).id) == 4
