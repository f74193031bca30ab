"""Subtrees: the nodes below a node, and the largest nodes of a tree for drawing."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.reshape import count_on_path
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel

Folded = dict[int, tuple[int, int]]


def find_node(tree: Tree, node_id: int) -> int | None:
    """Return the index of the node with this id, or None."""
    found = np.flatnonzero(tree.id == np.uint64(node_id))
    return int(found[0]) if len(found) else None


def below(tree: Tree, node: int | None, check: Check = never_cancel) -> Tree:
    """Return the subtree of the node, which becomes the root; an empty tree if `node` is None."""
    start = np.zeros(len(tree.parent), bool)
    if node is not None:
        start[node] = True
    return _only(tree, count_on_path(tree, start, check) > 0, check)


def fold(
    tree: Tree, max_nodes: int, check: Check = never_cancel, folded: Folded | None = None
) -> tuple[Tree, Folded]:
    """Keep the `max_nodes` nodes with the greatest totals of the first metric, and all roots.

    Return the tree and, by node that remains, the number of removed nodes below it and their total.
    No total is lost, as all roots remain. The tree must not have negative values. `folded` has the
    nodes that were removed from the tree before.
    """
    folded = folded or {}
    if len(tree.parent) <= max_nodes:
        return tree, folded
    nodes = np.fromiter(folded, np.int64, len(folded))
    before = np.zeros((2, len(tree.parent)), np.int64)
    before[:, nodes] = np.array([*folded.values()], np.int64).reshape(-1, 2).T
    total = totals(tree.parent, tree.self[0] + before[1], check)
    # A parent's total is never less than its child's, and the parent comes first: it remains.
    inside = _mark_largest(tree.parent < 0, total, max_nodes)
    return _only(tree, inside, check), _fold_nodes(tree, inside, total, before, check)


def _mark_largest(
    root: NDArray[np.bool_], total: NDArray[np.int64], count: int
) -> NDArray[np.bool_]:
    """Mark all roots, and of the other nodes the largest, `count` together; of equals the first.

    There must be more than `count` nodes.
    """
    inside = root.copy()
    left = count - np.count_nonzero(root)
    if left <= 0:
        return inside
    others = np.flatnonzero(~root)
    totals_of_others = total[others]
    least = np.partition(totals_of_others, -left)[-left]
    inside[others[totals_of_others > least]] = True
    equals = others[totals_of_others == least]
    inside[equals[: count - np.count_nonzero(inside)]] = True
    return inside


def _fold_nodes(
    tree: Tree,
    inside: NDArray[np.bool_],
    total: NDArray[np.int64],
    before: NDArray[np.int64],
    check: Check,
) -> Folded:
    """Count and sum the removed nodes, by the nearest node that remains.

    `before` has the numbers and totals of the nodes that were removed before, [2, N].
    """
    outside = np.flatnonzero(~inside & inside[tree.parent])
    above = (np.cumsum(inside) - 1)[tree.parent[outside]]
    size = totals(tree.parent, 1 + before[0], check)
    counts, weights = before[:, inside]
    np.add.at(counts, above, size[outside])
    np.add.at(weights, above, total[outside])
    nodes = np.flatnonzero(counts)
    rows = zip(nodes.tolist(), counts[nodes].tolist(), weights[nodes].tolist(), strict=True)
    return {node: (count, weight) for node, count, weight in rows}


def _only(tree: Tree, inside: NDArray[np.bool_], check: Check) -> Tree:
    """Keep the marked nodes; those whose parent is not marked become roots.

    Sample labels are dropped.
    """
    check()
    rank = np.where(inside, np.cumsum(inside) - 1, -1).astype(np.int32)
    parent = tree.parent[inside]
    return replace(
        tree,
        id=tree.id[inside],
        parent=np.where(parent >= 0, rank[parent], -1).astype(np.int32),
        frame=tree.frame[inside],
        self=tree.self[:, inside],
        labelled=None,
    )
