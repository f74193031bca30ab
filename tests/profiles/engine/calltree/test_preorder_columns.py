"""Call trees in the wire format."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profiles.engine.calltree.preorder_columns import depths, pre_order, to_columns, totals
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.metrics import Metric


def tree(parent: list[int], names: list[str], own: list[int]) -> Tree:
    """Return a tree whose node i is named names[i]."""
    strings = tuple(sorted({*names, ""}))
    index = np.array([strings.index(name) for name in names], np.int32)
    count = len(names)
    frames = Frames(
        strings=strings,
        id=np.arange(count, dtype=np.uint64),
        name=index,
        file=np.zeros(count, np.int32),
        line=np.zeros(count, np.int32),
        mapping=np.zeros(count, np.int32),
    )
    return Tree(
        metrics=(Metric("cpu", "nanoseconds"),),
        frames=frames,
        id=np.arange(1, count + 1, dtype=np.uint64),
        parent=np.array(parent, np.int32),
        frame=np.arange(count, dtype=np.int32),
        self=np.array([own], np.int64),
    )


# main 9 (self 2) → foo1 4 (self 1.5) → bar 2.5; main → foo2 3 (self 0.5) → bar 2.5, in halves
EXAMPLE = tree([-1, 0, 0, 1, 2], ["main", "foo2", "foo1", "bar", "bar"], [4, 1, 3, 5, 5])


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    count = draw(st.integers(0, 30))
    parent = [draw(st.integers(-1, i - 1)) for i in range(count)]
    names = [draw(st.sampled_from("abcde")) for _ in range(count)]
    return tree(parent, names, [draw(st.integers(0, 100)) for _ in range(count)])


def test_documented_example_gives_these_columns() -> None:
    assert totals(EXAMPLE.parent, EXAMPLE.self[0]).tolist() == [18, 6, 8, 5, 5]
    columns = to_columns(EXAMPLE)
    names = [columns["names"][columns["frames"]["name"][i]] for i in columns["frame"]]
    assert names == ["main", "foo1", "bar", "foo2", "bar"]
    assert columns["depth"] == [0, 1, 2, 1, 2]
    assert columns["self"] == [4, 3, 5, 1, 5]
    assert columns["frame"] == [0, 1, 2, 3, 2]  # the frame table has each once


def test_siblings_can_be_ordered_by_name() -> None:
    by_name = tree([-1, 0, 0], ["r", "b", "a"], [0, 5, 1])
    assert pre_order(by_name, by_name=True).tolist() == [0, 2, 1]
    assert pre_order(by_name).tolist() == [0, 1, 2]


@given(trees())
def test_a_total_is_self_and_the_totals_of_the_children(drawn: Tree) -> None:
    total = totals(drawn.parent, drawn.self[0])
    for node in range(len(drawn.parent)):
        children = total[drawn.parent == node].sum()
        assert total[node] == drawn.self[0][node] + children


@given(trees())
def test_pre_order_has_every_node_once_and_its_subtree_behind_it(drawn: Tree) -> None:
    order = pre_order(drawn)
    assert sorted(order.tolist()) == list(range(len(drawn.parent)))
    depth = depths(drawn.parent)[order]
    path: list[int] = []
    for node, level in zip(order.tolist(), depth.tolist(), strict=True):
        del path[level:]
        assert drawn.parent[node] == (path[-1] if path else -1)
        path.append(node)


@given(trees(), st.booleans())
def test_siblings_are_ordered_by_total_then_name_then_id(drawn: Tree, by_name: bool) -> None:
    total, names = totals(drawn.parent, drawn.self[0]), drawn.frames.strings
    order = pre_order(drawn, by_name).tolist()
    siblings: dict[int, list[tuple[int, str, int]]] = {}
    for node in order:
        name = names[int(drawn.frames.name[drawn.frame[node]])]
        key = (0 if by_name else -int(total[node]), name, int(drawn.id[node]))
        siblings.setdefault(int(drawn.parent[node]), []).append(key)
    assert all(keys == sorted(keys) for keys in siblings.values())


def test_chain_of_10000_frames_is_converted() -> None:
    count = 10_000
    chain = tree(list(range(-1, count - 1)), ["f"] * count, [0] * (count - 1) + [7])
    columns = to_columns(chain)
    assert columns["depth"][-1] == count - 1
    assert totals(chain.parent, chain.self[0])[0] == 7


def test_frames_that_differ_in_their_binary_alone_are_one() -> None:
    drawn = tree([-1, 0, 0], ["main", "work", "work"], [1, 3, 2])
    drawn.frames.mapping[2] = drawn.frames.name[0]
    columns = to_columns(drawn)
    assert columns["frames"] == {"name": [0, 1], "file": [0, 0]}
    assert columns["frame"] == [0, 1, 1]


def test_lines_are_distinguished_on_request() -> None:
    drawn = tree([-1, 0, 0], ["main", "work", "work"], [1, 3, 2])
    drawn.frames.line[:] = [0, 7, 8]
    assert to_columns(drawn)["frame"] == [0, 1, 1]
    columns = to_columns(drawn, lines=True)
    assert columns["frames"] == {"name": [0, 1, 1], "file": [0, 0, 0], "line": [0, 7, 8]}
    assert columns["frame"] == [0, 1, 2]
