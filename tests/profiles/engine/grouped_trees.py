"""Grouping by function: nodes with equal paths of (function, file) become one, without lines."""

from profiles.engine.accumulators.merge import Merge
from profiles.engine.calltree.tree import Tree


def by_function(tree: Tree) -> Tree:
    """Group the tree by function; nodes get new ids, and sample labels are dropped."""
    grouped = Merge(tree.metrics, by_function=True)
    grouped.add_tree(tree)
    return grouped.tree()
