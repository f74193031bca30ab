"""Trees with the one metric that rules look at."""

from dataclasses import replace

from profiles.engine.calltree.tree import Tree
from profiles.engine.metrics import find_default
from projects.profile_types import ProfileType


def keep_metric(tree: Tree, type_: ProfileType) -> Tree:
    """Return the tree with the default metric of the type alone."""
    index = find_default(type_, tree.metrics)
    return replace(tree, metrics=(tree.metrics[index],), self=tree.self[index : index + 1])
