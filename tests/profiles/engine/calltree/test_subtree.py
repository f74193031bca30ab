"""Subtrees below a node, and folding of narrow nodes for drawing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.subtree import below, find_node, fold
from tests.examples import examples
from tests.profiles.engine.random_trees import folded, meaning, tree_of
from tests.profiles.pprofs import EXAMPLE, Stacks


@settings(max_examples=examples(200), deadline=None)
@given(folded(), st.integers(1, 20))
def test_folding_keeps_every_total(stacks: Stacks, most: int) -> None:
    tree = tree_of(stacks)
    drawn, left_out = fold(tree, most)
    roots = int((tree.parent < 0).sum())
    assert len(drawn.id) == max(roots, min(most, len(tree.id)))
    assert int((drawn.parent < 0).sum()) == roots
    before = dict(zip(tree.id.tolist(), totals(tree.parent, tree.self[0]).tolist(), strict=True))
    own = drawn.self[0].copy()
    for node, (_, total) in left_out.items():
        own[node] += total
    after = totals(drawn.parent, own).tolist()
    assert after == [before[node] for node in drawn.id.tolist()]
    lost = sum(count for count, _ in left_out.values())
    assert lost == len(tree.id) - len(drawn.id)
    below_roots = sorted(before[node] for node in tree.id[tree.parent >= 0].tolist())
    shown = sorted(before[node] for node in drawn.id[drawn.parent >= 0].tolist())
    assert shown == below_roots[len(below_roots) - len(shown) :]


@settings(max_examples=examples(100), deadline=None)
@given(folded(), st.integers(1, 20), st.integers(1, 20))
def test_a_folded_tree_can_be_folded_again(stacks: Stacks, most: int, fewer: int) -> None:
    tree = tree_of(stacks)
    before, left_out = fold(tree, most)
    after, left_out_later = fold(before, fewer, folded=left_out)
    lost = sum(count for count, _ in left_out_later.values())
    assert lost == len(tree.id) - len(after.id)
    shown = int(after.self[0].sum()) + sum(total for _, total in left_out_later.values())
    assert shown == int(tree.self[0].sum())


def test_widest_nodes_are_drawn_and_narrow_ones_folded() -> None:
    drawn, left_out = fold(tree_of(EXAMPLE), 3)
    names = [drawn.frames.strings[drawn.frames.name[frame]] for frame in drawn.frame.tolist()]
    assert names == ["main", "foo1", "foo2"]
    assert left_out == {1: (1, 2500), 2: (1, 2500)}


def test_tree_within_the_limit_is_not_folded() -> None:
    tree = tree_of(EXAMPLE)
    assert fold(tree, 5) == (tree, {})


def test_the_tree_below_a_node_keeps_ids_and_values() -> None:
    tree = tree_of(EXAMPLE)
    foo1 = next(
        i for i in range(5) if tree.frames.strings[tree.frames.name[tree.frame[i]]] == "foo1"
    )
    part = below(tree, foo1)
    assert part.parent.tolist() == [-1, 0]
    assert part.id[0] == tree.id[foo1]
    assert int(part.self.sum()) == 4000
    assert find_node(tree, int(tree.id[foo1])) == foo1
    assert find_node(tree, 1) is None
    assert len(below(tree, None).id) == 0
    assert meaning(part)["own"] != meaning(tree)["own"]
