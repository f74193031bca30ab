"""Stacks of a call tree, written out from the root."""

from collections.abc import Iterator

from profiles.engine.calltree.preorder_columns import pre_order
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, check_each, never_cancel


def list_stacks(
    tree: Tree, metric: int = 0, check: Check = never_cancel
) -> Iterator[tuple[list[int], int]]:
    """Yield (frames from the root, self value) for each node with a self value, in pre-order.

    The list is a new one each time; its items are indexes of the tree's frames.
    """
    own, parent, frame = tree.self[metric].tolist(), tree.parent.tolist(), tree.frame.tolist()
    nodes: list[int] = []
    frames: list[int] = []
    for node in check_each(pre_order(tree, check=check).tolist(), check):
        while nodes and nodes[-1] != parent[node]:
            nodes.pop()
            frames.pop()
        nodes.append(node)
        frames.append(frame[node])
        if own[node]:
            yield [*frames], own[node]
