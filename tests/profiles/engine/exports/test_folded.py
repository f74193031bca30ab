"""Folded stacks: reading and writing them gives the same stacks."""

from hypothesis import given, settings

from profiles.engine.calltree.tree import Tree
from profiles.engine.exports.folded import encode
from tests.examples import examples
from tests.profiles.engine.explicit_stacks import stacks_of
from tests.profiles.engine.random_trees import folded, tree_of, trees
from tests.profiles.pprofs import Stacks


def read(text: str) -> dict[str, int]:
    rows = [line.rpartition(" ") for line in text.splitlines()]
    assert [stack for stack, _, _ in rows] == sorted({stack for stack, _, _ in rows})
    return {stack: int(value) for stack, _, value in rows}


@settings(max_examples=examples(200), deadline=None)
@given(folded())
def test_folded_stacks_are_read_back_unchanged(stacks: Stacks) -> None:
    assert read(encode(tree_of(stacks))) == stacks


@settings(max_examples=examples(100), deadline=None)
@given(trees())
def test_every_metric_has_its_total(tree: Tree) -> None:
    for metric in range(len(tree.metrics)):
        assert sum(read(encode(tree, metric)).values()) == int(tree.self[metric].sum())
    own = stacks_of(tree)[0]
    names = {";".join(frame[0] for frame in path) for path, row in own.items() if row[0]}
    assert set(read(encode(tree))) == names


def test_separators_in_names_are_replaced() -> None:
    tree = tree_of({"a": 1})
    strings = [{"a": "f(;)\n  g"}.get(text, text) for text in tree.frames.strings]
    object.__setattr__(tree.frames, "strings", tuple(strings))
    assert encode(tree) == "f(:)   g 1\n"


def test_empty_tree_is_an_empty_text() -> None:
    assert encode(tree_of({})) == ""
