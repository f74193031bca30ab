"""Filters equal their effect on explicit stacks, and preserve totals where they should."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import merge
from profiles.engine.calltree.filters import Filters, filter_tree, find_highlighted
from profiles.engine.calltree.patterns import matcher
from profiles.engine.calltree.tree import Tree
from tests.examples import examples
from tests.profiles.engine.explicit_stacks import obviously_filtered, stacks_of
from tests.profiles.engine.random_trees import folded, meaning, tree_of, trees
from tests.profiles.pprofs import EXAMPLE, Stacks

few = settings(max_examples=examples(150), deadline=None)
NAMES = [*"abcd", "main", "wor", "py", "+0x", "?", "/^(a|b)$/", "/[bm]/", "/t.$/", "Main"]
VALUES = st.lists(st.sampled_from(NAMES), max_size=2).map(tuple)
FILTERS = st.builds(Filters, VALUES, VALUES, VALUES, VALUES)
ONE_KIND = st.one_of(
    st.builds(Filters, show=VALUES, hide=VALUES),
    st.builds(Filters, hide_frames=VALUES),
    st.builds(Filters, show_from=VALUES),
)
TREES = st.one_of(trees(), folded().map(tree_of))


@few
@given(TREES, FILTERS)
def test_filtered_tree_equals_filtered_stacks(tree: Tree, filters: Filters) -> None:
    if filters != Filters():
        assert stacks_of(filter_tree(tree, filters)) == obviously_filtered(tree, filters)


@few
@given(TREES, FILTERS)
def test_filtered_tree_is_a_valid_tree(tree: Tree, filters: Filters) -> None:
    out = filter_tree(tree, filters)
    assert (out.parent < np.arange(len(out.parent))).all()
    assert len(np.unique(out.id)) == len(out.id)
    assert meaning(merge([out])) == meaning(out)
    assert set(out.frame.tolist()) == set(range(len(out.frames.id)))
    assert all((out.self[k] >= 0).all() for k in range(len(out.metrics)))


@few
@given(TREES, FILTERS)
def test_totals_never_grow(tree: Tree, filters: Filters) -> None:
    assert (filter_tree(tree, filters).self.sum(axis=1) <= tree.self.sum(axis=1)).all()


@few
@given(TREES, VALUES)
def test_shown_and_hidden_stacks_are_the_whole(tree: Tree, values: tuple[str, ...]) -> None:
    shown, hidden = filter_tree(tree, Filters(show=values)), filter_tree(tree, Filters(hide=values))
    if values:
        assert meaning(merge([shown, hidden])) == meaning(merge([tree]))


@few
@given(TREES, VALUES)
def test_hidden_frames_leave_their_cost(tree: Tree, values: tuple[str, ...]) -> None:
    """Check that hiding frames keeps all values, except of stacks without a remaining frame."""
    whole = ("no frame has this", *values)
    shown = filter_tree(tree, Filters(hide_frames=whole))
    alone = sum(
        np.array(row) for row in obviously_filtered(tree, Filters(hide_frames=whole))[0].values()
    )
    assert (shown.self.sum(axis=1) == alone).all()
    if not values:
        assert (shown.self.sum(axis=1) == tree.self.sum(axis=1)).all()


@few
@given(st.lists(TREES, max_size=4), FILTERS)
def test_filtering_and_merging_commute(parts: list[Tree], filters: Filters) -> None:
    before = merge([filter_tree(part, filters) for part in parts])
    after = filter_tree(merge(parts), filters)
    assert stacks_of_any(before) == stacks_of_any(after)


def stacks_of_any(tree: Tree) -> object:
    said = meaning(tree)
    return said["own"], said["labelled"]


@few
@given(TREES, ONE_KIND)
def test_applying_a_filter_twice_changes_nothing(tree: Tree, filters: Filters) -> None:
    once = filter_tree(tree, filters)
    assert meaning(filter_tree(once, filters)) == meaning(once)


@few
@given(TREES, FILTERS)
def test_a_value_given_twice_counts_once(tree: Tree, filters: Filters) -> None:
    doubled = Filters(
        filters.show * 2, filters.hide * 2, filters.hide_frames * 2, filters.show_from * 2
    )
    assert meaning(filter_tree(tree, doubled)) == meaning(filter_tree(tree, filters))


@few
@given(folded(), VALUES)
def test_highlighting_names_the_nodes_that_match(stacks: Stacks, values: tuple[str, ...]) -> None:
    tree = tree_of(stacks)
    names = [tree.frames.strings[tree.frames.name[frame]] for frame in tree.frame.tolist()]
    nodes = find_highlighted(tree, values).tolist()
    expected = [
        i
        for i, name in enumerate(names)
        if any(matcher(value)(text) for value in values for text in (name, "app.py"))
    ]
    assert nodes == expected


def own(tree: Tree) -> dict[str, int]:
    """Return the folded stacks of the tree, with their values."""
    return {
        ";".join(frame[0] for frame in path): values[0]
        for path, values in stacks_of(tree)[0].items()
    }


def test_without_filters_nothing_changes() -> None:
    tree = tree_of(EXAMPLE)
    assert filter_tree(tree, Filters()) is tree


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(show=("foo1",)), {"main;foo1": 1500, "main;foo1;bar": 2500}),
        (Filters(show=("foo1", "foo2"), hide=("bar",)), {"main;foo1": 1500, "main;foo2": 500}),
        (Filters(hide=("foo",)), {"main": 2000}),
        (
            Filters(show_from=("foo",)),
            {"foo1": 1500, "foo1;bar": 2500, "foo2": 500, "foo2;bar": 2500},
        ),
        (Filters(show_from=("bar",)), {"bar": 5000}),
        (Filters(hide_frames=("foo",)), {"main": 4000, "main;bar": 5000}),
        (Filters(hide_frames=("main",), show_from=("main",)), {}),
        (Filters(show=("main",), hide_frames=("main", "foo")), {"bar": 5000}),
        (Filters(show=("/^b.r$/",), hide_frames=("/foo[12]/",)), {"main;bar": 5000}),
        (Filters(show=("app.py",)), EXAMPLE),
        (Filters(show=("Foo1",)), {}),
    ],
)
def test_each_filter_gives_the_documented_stacks(filters: Filters, expected: Stacks) -> None:
    assert own(filter_tree(tree_of(EXAMPLE), filters)) == expected


def test_recursion_starts_at_the_match_nearest_the_root() -> None:
    tree = tree_of({"a;b;c;b": 1, "b;c": 2})
    assert own(filter_tree(tree, Filters(show_from=("b",)))) == {"b;c;b": 1, "b;c": 2}


def test_stacks_of_10000_frames_are_filtered() -> None:
    deep = tree_of({";".join(["a", "b"] * 5_000): 1})
    assert len(filter_tree(deep, Filters(hide_frames=("/^a$/",))).id) == 5_000
    assert len(filter_tree(deep, Filters(show_from=("/^b$/",))).id) == 9_999
