"""Bottom-up call tree: the functions that have self values, each with its callers below it."""

import numpy as np

from profiles.engine.calltree.invert import inverted
from profiles.engine.calltree.reshape import pruned
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, unchecked


def bottom_up(tree: Tree, check: Check = unchecked) -> Tree:
    """Invert the tree from each node with a self value; the roots' totals are the self values.

    Group the tree by function first, or each line becomes a root. Sample labels are dropped. Raise
    `TooManyFrames` if the stacks have too many frames in total.
    """
    starts = np.flatnonzero(tree.self.any(axis=0))
    return pruned(inverted(tree, starts, tree.self[:, starts], check=check), check)
