"""Focus on a function with callers and callees equals the result on explicit stacks."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import merge
from profiles.engine.calltree.focus import focus_tree, reaching
from profiles.engine.calltree.invert import TooManyFrames, bottom_up, invert_tree
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.top import function_cost, top
from profiles.engine.calltree.tree import Tree
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from tests.examples import examples
from tests.profiles.engine.explicit_stacks import ids_of, stacks_of
from tests.profiles.engine.grouped_trees import by_function
from tests.profiles.engine.pprof.oracle import Path
from tests.profiles.engine.random_trees import folded, meaning, tree_of, trees
from tests.profiles.pprofs import EXAMPLE, PprofBuilder, Stacks

few = settings(max_examples=examples(150), deadline=None)
TREES = st.one_of(trees(), folded().map(tree_of)).map(by_function)
NAMES = st.sampled_from([*"abcd", "main", "work", "?"])


def summed(stacks: list[tuple[Path, tuple[int, ...]]]) -> dict[Path, tuple[int, ...]]:
    sums: dict[Path, tuple[int, ...]] = {}
    for path, values in stacks:
        before = sums.get(path, (0,) * len(values))
        sums[path] = tuple(a + b for a, b in zip(before, values, strict=True))
    return sums


@few
@given(TREES, NAMES)
def test_focus_agrees_with_explicit_stacks(tree: Tree, name: str) -> None:
    above: list[tuple[Path, tuple[int, ...]]] = []
    below: list[tuple[Path, tuple[int, ...]]] = []
    for path, values in stacks_of(tree)[0].items():
        names = [frame[0] for frame in path]
        if name in names:
            at = names.index(name)
            above.append((tuple(reversed(path[: at + 1])), values))
            below.append((path[at:], values))
    got = focus_tree(tree, name)
    assert stacks_of(got.callers) == (summed(above), {}, ids_of(summed(above)))
    assert stacks_of(got.callees) == (summed(below), {}, ids_of(summed(below)))


@few
@given(TREES)
def test_bottom_up_agrees_with_explicit_stacks(tree: Tree) -> None:
    expected = summed([(path[::-1], values) for path, values in stacks_of(tree)[0].items()])
    assert stacks_of(bottom_up(tree)) == (expected, {}, ids_of(expected))


@few
@given(TREES)
def test_bottom_up_twice_is_the_tree(tree: Tree) -> None:
    assert stacks_of(bottom_up(bottom_up(tree)))[0] == stacks_of(tree)[0]


@few
@given(st.lists(TREES, max_size=4))
def test_bottom_up_and_merging_commute(parts: list[Tree]) -> None:
    before = merge([bottom_up(part) for part in parts])
    assert meaning(before)["own"] == meaning(bottom_up(merge(parts)))["own"]


@few
@given(folded())
def test_totals_are_those_of_the_list(stacks: Stacks) -> None:
    tree = by_function(tree_of(stacks))
    up = bottom_up(tree)
    roots: Counter[str] = Counter()
    for name, parent, total in zip(
        up.frames.name[up.frame].tolist(), up.parent, totals(up.parent, up.self[0]), strict=True
    ):
        if parent < 0:
            roots[up.frames.strings[name]] += int(total)
    for row in top(tree):
        got = focus_tree(tree, row.name)
        assert int(got.callers.self.sum()) == int(got.callees.self.sum()) == row.total
        assert roots[row.name] == row.self
        assert function_cost(tree, row.name) == row


@few
@given(TREES, NAMES)
def test_reaching_keeps_exactly_the_stacks_with_the_function(tree: Tree, name: str) -> None:
    stacks = stacks_of(tree)[0]
    expected = {
        path: values for path, values in stacks.items() if name in [frame[0] for frame in path]
    }
    assert stacks_of(reaching(tree, name)) == (expected, {}, ids_of(expected))


def test_function_of_several_files_is_summed() -> None:
    tree = by_function(tree_in_files({"a": "x.py", "b": "y.py"}))
    cost = function_cost(tree, "work")
    assert cost is not None
    assert (cost.file, cost.self, cost.total, cost.count) == ("", 10, 15, 3)
    assert function_cost(tree, "nothing") is None
    got = focus_tree(tree, "work")
    assert int((got.callees.parent < 0).sum()) == 2
    assert int(got.callees.self.sum()) == int(got.callers.self.sum()) == 15


def tree_in_files(files: dict[str, str]) -> Tree:
    """Return a tree with, for each caller, a `work` in its own file that calls itself once."""
    builder = PprofBuilder()
    builder.message.sample_type.add(type=builder.string("cpu"), unit=builder.string("ns"))
    for caller, file in files.items():
        work, above = builder.frame("work", file), builder.frame(caller)
        builder.message.sample.add(location_id=[work, above], value=[5])
    below = [builder.frame("leaf"), builder.frame("work", "x.py"), builder.frame("a")]
    builder.message.sample.add(location_id=below, value=[5])
    return decode_profile(bytes(builder.message.SerializeToString()), "CPU", DecodeLimits()).tree


def test_focus_gives_the_documented_callers_and_callees() -> None:
    tree = tree_of(EXAMPLE)
    got = focus_tree(tree, "bar")
    assert {
        "<".join(frame[0] for frame in path): values[0]
        for path, values in stacks_of(got.callers)[0].items()
    } == {"bar<foo1<main": 2500, "bar<foo2<main": 2500}
    assert got.callees.self.tolist() == [[5000]]
    assert focus_tree(tree, "other").callees.self.tolist() == [[]]


def test_stacks_of_5000_frames_are_inverted_and_focused() -> None:
    deep = tree_of({";".join(f"f{i}" for i in range(5_000)): 1})
    assert len(bottom_up(deep).id) == 5_000
    assert len(focus_tree(deep, "f2000").callers.id) == 2_001


def test_stacks_that_are_too_long_in_total_are_rejected() -> None:
    tree = tree_of({"a;b;c": 1, "a;b": 1})
    starts, values = tree.self[0].nonzero()[0], tree.self[:, tree.self[0] != 0]
    assert len(invert_tree(tree, starts, values, max_steps=5).id) == 5
    with pytest.raises(TooManyFrames, match="more than 4 frames"):
        invert_tree(tree, starts, values, max_steps=4)
