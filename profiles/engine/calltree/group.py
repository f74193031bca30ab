"""Group: nodes whose paths of (function, file) are equal become one; lines are dropped."""

from profiles.engine.calltree.merge import Merge
from profiles.engine.calltree.tree import Tree


def by_function(tree: Tree) -> Tree:
    """The tree grouped by function, with ids of its own; sample labels are dropped."""
    grouped = Merge(tree.metrics, by_function=True)
    grouped.add_tree(tree)
    return grouped.tree()
