"""Focus: one function, who calls it and what it calls, summed over all its call sites."""

from dataclasses import dataclass

import numpy as np

from profiles.engine.calltree.invert import inverted
from profiles.engine.calltree.reshape import from_nodes, only_stacks, opened, pruned
from profiles.engine.calltree.top import named
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.preorder_columns import totals


@dataclass(frozen=True, slots=True)
class Focused:
    """Two trees with the function as root, and with equal totals: what it costs in all."""

    callers: Tree  # inverted: a node's children are its callers
    callees: Tree


def focused(tree: Tree, name: str) -> Focused:
    """The function of this name, whatever its file, in a tree grouped by function.

    Recursion counts once: of nested calls the outermost is meant, and the others stand among
    the callees. Both trees are empty where the function is not met. Sample labels are dropped
    from the callers. TooManyFrames if the stacks are too long in all.
    """
    calls = named(tree.frames, name)[tree.frame]
    outermost = np.flatnonzero(calls & (opened(tree, calls) == 1))
    sums = np.array([totals(tree.parent, own)[outermost] for own in tree.self])
    callers = inverted(tree, outermost, sums.reshape(len(tree.metrics), -1))
    return Focused(pruned(callers), from_nodes(tree, calls))


def reaching(tree: Tree, name: str) -> Tree:
    """The tree of the stacks that reach a function of this name, whole."""
    return only_stacks(tree, opened(tree, named(tree.frames, name)[tree.frame]) > 0)
