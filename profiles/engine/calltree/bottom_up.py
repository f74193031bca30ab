"""Bottom-up: the functions in which values arise, and below each its callers."""

import numpy as np

from profiles.engine.calltree.invert import inverted
from profiles.engine.calltree.reshape import pruned
from profiles.engine.calltree.tree import Tree


def bottom_up(tree: Tree) -> Tree:
    """The inverted tree; its roots' totals are the self values of the list of functions.

    Group the tree by function first, or each line is a root. Sample labels are dropped.
    TooManyFrames if the stacks are too long in all.
    """
    starts = np.flatnonzero(tree.self.any(axis=0))
    return pruned(inverted(tree, starts, tree.self[:, starts]))
