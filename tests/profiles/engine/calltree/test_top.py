"""The function list equals a plain count over stacks."""

from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.calltree.subtree import below
from profiles.engine.calltree.top import lines, top
from profiles.engine.calltree.tree import Tree
from tests.examples import examples
from tests.profiles.engine.explicit_stacks import stacks_of
from tests.profiles.engine.grouped_trees import by_function
from tests.profiles.engine.random_trees import folded, tree_of, trees
from tests.profiles.pprofs import EXAMPLE, Stacks


def obvious(stacks: Stacks) -> dict[str, tuple[int, int, int]]:
    rows: dict[str, tuple[int, int, int]] = {}
    for stack, value in stacks.items():
        assert isinstance(value, int)
        names = stack.split(";")
        for name in set(names):
            own, total, count = rows.get(name, (0, 0, 0))
            leaf = value if names[-1] == name else 0
            rows[name] = (own + leaf, total + value, count + 1)
    return rows


@settings(max_examples=examples(200), deadline=None)
@given(folded())
def test_recursion_counts_once(stacks: Stacks) -> None:
    rows = top(by_function(tree_of(stacks)))
    assert {row.name: (row.self, row.total, row.count) for row in rows} == obvious(stacks)
    assert [row.self for row in rows] == sorted((row.self for row in rows), reverse=True)


def test_documented_example_gives_this_function_list() -> None:
    rows = {row.name: row for row in top(tree_of(EXAMPLE))}
    assert (rows["foo1"].self, rows["foo1"].total) == (1500, 4000)
    assert rows["foo1"].self / rows["foo1"].total == 0.375
    assert rows["bar"].count == 2


def test_below_a_node_only_the_functions_there_are_listed() -> None:
    tree = tree_of(EXAMPLE)
    named = [tree.frames.strings[index] for index in tree.frames.name[tree.frame].tolist()]
    rows = top(below(tree, named.index("foo1")))
    assert {row.name for row in rows} == {"foo1", "bar"}


@settings(max_examples=examples(200), deadline=None)
@given(trees(), st.sampled_from("abcd"))
def test_lines_agree_with_explicit_stacks(tree: Tree, name: str) -> None:
    stacks = stacks_of(tree)[0]
    files = {frame[1] for path in stacks for frame in path if frame[0] == name}
    for file in files:
        expected: dict[int, tuple[int, int]] = {}
        for path, values in stacks.items():
            met = {frame[2] for frame in path if frame[:2] == (name, file)}
            for line in met:
                own, total = expected.get(line, (0, 0))
                leaf = values[0] if path[-1][:3] == (name, file, line) else 0
                expected[line] = (own + leaf, total + values[0])
        rows = lines(tree, name, file)
        assert [row.line for row in rows] == sorted(row.line for row in rows)
        found = {row.line: (row.self, row.total) for row in rows if row.total}
        assert found == {line: sums for line, sums in expected.items() if sums[1]}
    assert lines(tree, name, "no such file") == []
