"""Focus on one function: its callers and its callees, summed over all its call sites."""

from dataclasses import dataclass

import numpy as np

from profiles.engine.calltree.invert import invert_tree
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.reshape import count_on_path, from_nodes, prune, select_stacks
from profiles.engine.calltree.top import mark_named
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel


@dataclass(frozen=True, slots=True)
class Focused:
    """Two trees whose root is the function; both have the function's total as their total."""

    callers: Tree  # inverted: a node's children are its callers
    callees: Tree


def focus_tree(tree: Tree, name: str, check: Check = never_cancel) -> Focused:
    """Focus on the functions with this name, in any file, in a tree grouped by function.

    Recursion counts once: the outermost of nested calls is the root, and the others are among its
    callees. Both trees are empty if the function does not occur. Sample labels are dropped from the
    callers. Raise `TooManyFrames` if the stacks have too many frames in total.
    """
    calls = mark_named(tree.frames, name)[tree.frame]
    outermost = np.flatnonzero(calls & (count_on_path(tree, calls, check) == 1))
    sums = np.array([totals(tree.parent, own, check)[outermost] for own in tree.self])
    callers = invert_tree(tree, outermost, sums.reshape(len(tree.metrics), -1), check=check)
    return Focused(prune(callers, check), from_nodes(tree, calls, check))


def reaching(tree: Tree, name: str, check: Check = never_cancel) -> Tree:
    """Keep the complete stacks that contain a function of this name."""
    calls = mark_named(tree.frames, name)[tree.frame]
    return select_stacks(tree, count_on_path(tree, calls, check) > 0, check)
