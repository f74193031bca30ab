"""Direct callers and callees equal those of explicit stacks and of pprof (test_golden.py)."""

from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.calltree.peek import Neighbour, Peek, peek
from profiles.engine.calltree.tree import Tree
from tests.examples import examples
from tests.profiles.engine.explicit_stacks import stacks_of
from tests.profiles.engine.grouped_trees import by_function
from tests.profiles.engine.random_trees import folded, tree_of, trees

few = settings(max_examples=examples(150), deadline=None)
TREES = st.one_of(trees(), folded().map(tree_of)).map(by_function)
NAMES = st.sampled_from([*"abcd", "main", "work", "?"])
RECURSIVE = {"main;f;g;f;h": 4, "main;f;f;h": 2, "g;f;g;f": 1}


def total_of(neighbours: tuple[Neighbour, ...]) -> dict[str, int]:
    return {each.name: each.total for each in neighbours}


def test_every_call_of_a_recursive_function_counts_and_a_stack_once() -> None:
    found = peek(tree_of(RECURSIVE), "f")
    assert total_of(found.callers) == {"main": 6, "g": 5}
    assert total_of(found.callees) == {"h": 6, "g": 5}


def test_root_leaf_or_missing_function_has_no_callers_or_callees() -> None:
    tree = tree_of(RECURSIVE)
    assert peek(tree, "main").callers == ()
    assert peek(tree, "f").callees != ()
    assert peek(tree, "h").callees == ()
    assert peek(tree, "nowhere") == Peek((), ())


@few
@given(TREES, NAMES)
def test_callers_and_callees_equal_those_of_explicit_stacks(tree: Tree, name: str) -> None:
    callers, callees = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for path, values in stacks_of(tree)[0].items():
        calls = {(above[:2], below[:2]) for above, below in pairwise(path)}
        for function in {above for above, below in calls if below[0] == name != above[0]}:
            callers[function] += values[0]
        for function in {below for above, below in calls if above[0] == name != below[0]}:
            callees[function] += values[0]
    found = peek(tree, name)
    for neighbours, expected in ((found.callers, callers), (found.callees, callees)):
        assert {each[:2]: each.total for each in neighbours} == {
            function: total for function, total in expected.items() if total
        }
        assert [each.total for each in neighbours] == sorted(
            (each.total for each in neighbours), reverse=True
        )
