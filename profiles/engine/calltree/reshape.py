"""Transformations of a call tree: selected stacks, selected nodes, or new parents.

There is no recursion, only passes over arrays: stacks may be 10,000 frames deep.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.forest import node_totals, preorder_nodes
from profiles.engine.calltree.tree import Frames, LabelledSelf, Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.hashing import node_ids

Nodes = NDArray[np.bool_]  # [N], a set of nodes


def count_on_path(tree: Tree, nodes: Nodes, check: Check = never_cancel) -> NDArray[np.int64]:
    """Count the members of `nodes` on the path from the root to each node, inclusive, [N]."""
    return sum_on_path(tree, nodes.astype(np.int64), check)


def sum_on_path(
    tree: Tree, values: NDArray[np.int64], check: Check = never_cancel
) -> NDArray[np.int64]:
    """Sum `values` [N] over the path from the root to each node, inclusive, [N]."""
    check()
    order = preorder_nodes(tree.parent, np.arange(len(tree.parent)))
    size = node_totals(tree.parent, np.ones(len(order), np.int64))
    starts = np.flatnonzero(values[order])
    change = np.zeros(len(order) + 1, np.int64)
    np.add.at(change, starts, values[order][starts])
    np.add.at(change, starts + size[order][starts], -values[order][starts])
    count = np.empty(len(order), np.int64)
    count[order] = np.cumsum(change[:-1])
    return count


def select_stacks(tree: Tree, ends: Nodes, check: Check = never_cancel) -> Tree:
    """Keep the values of the nodes `ends` only, and prune nodes that lead to no value."""
    labelled = tree.labelled
    if labelled:
        rows = ends[labelled.node]
        labelled = replace(
            labelled,
            node=labelled.node[rows],
            label_set=labelled.label_set[rows],
            values=labelled.values[:, rows],
        )
    return prune(replace(tree, self=np.where(ends, tree.self, 0), labelled=labelled), check)


def remove_nodes(tree: Tree, hidden: Nodes, check: Check = never_cancel) -> Tree:
    """Remove the hidden nodes; their values and children go to the nearest visible ancestor.

    Stacks that consist of hidden nodes only are dropped, as in pprof.
    """
    shown = _nearest(tree.parent, hidden, check)
    return rebuild_tree(tree, target=shown, parent=_take(shown, tree.parent), check=check)


def from_nodes(tree: Tree, starts: Nodes, check: Check = never_cancel) -> Tree:
    """Keep the subtrees of the outermost nodes of `starts`, which become roots."""
    depth = count_on_path(tree, starts, check)
    target = np.where(depth > 0, np.arange(len(depth)), -1)
    parent = np.where(starts & (depth == 1), -1, tree.parent)
    return rebuild_tree(tree, target, parent, check)


def rebuild_tree(
    tree: Tree, target: NDArray[np.int64], parent: NDArray[np.int64], check: Check = never_cancel
) -> Tree:
    """Rebuild the tree: node i gives its values to node target[i] (-1: to none), below parent[i].

    Nodes with target[i] = i remain. A parent is one of these and comes before its children. Nodes
    whose stacks have become equal are merged.
    """
    check()
    remaining = np.flatnonzero(target == np.arange(len(target)))
    rank = np.full(len(target), -1, np.int64)
    rank[remaining] = np.arange(len(remaining))
    above, frame = _take(rank, parent[remaining]).astype(np.int32), tree.frame[remaining]
    ids = node_ids(above, frame, tree.frames.id)
    first, group = _groups(ids)
    to = _take(_take(group, rank), target)  # new node of each old node
    own = np.zeros((len(tree.metrics), len(first)), np.int64)
    _add(own, to, tree.self)
    return prune(
        replace(
            tree,
            id=ids[first],
            parent=_take(group, above[first]).astype(np.int32),
            frame=frame[first],
            self=own,
            labelled=_move_labelled(tree.labelled, to),
        ),
        check,
    )


def _groups(ids: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first index of each distinct id, ascending, and the number of each id's group."""
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse]


def _nearest(parent: NDArray[np.int32], hidden: Nodes, check: Check) -> NDArray[np.int64]:
    """Return the nearest visible node: the node itself or an ancestor; -1 if there is none."""
    nearest = np.where(hidden, parent, np.arange(len(parent)))
    while True:
        further = _take(nearest, nearest)
        check()
        if np.array_equal(further, nearest):
            return nearest
        nearest = further


def _take(table: NDArray[np.int64], index: NDArray[np.signedinteger]) -> NDArray[np.int64]:
    """Return table[index], with -1 for an index of -1."""
    taken: NDArray[np.int64] = np.append(table, -1)[index]
    return taken


def _add(sums: NDArray[np.int64], to: NDArray[np.int64], values: NDArray[np.int64]) -> None:
    """Add the columns of `values` to the columns `to` of `sums`; skip columns with -1."""
    columns = np.flatnonzero((to >= 0) & values.any(axis=0))
    for row, value in zip(sums, values, strict=True):
        np.add.at(row, to[columns], value[columns])


def _move_labelled(labelled: LabelledSelf | None, to: NDArray[np.int64]) -> LabelledSelf | None:
    if labelled is None or not (to[labelled.node] >= 0).any():
        return None
    node, width = to[labelled.node], len(labelled.label_sets)
    pairs = node * width + labelled.label_set
    distinct, row = np.unique(pairs[node >= 0], return_inverse=True)
    values = np.zeros((len(labelled.values), len(distinct)), np.int64)
    _add(values, row, labelled.values[:, node >= 0])
    return LabelledSelf(
        labelled.label_sets,
        (distinct // width).astype(np.int32),
        (distinct % width).astype(np.int32),
        values,
    )


def with_values(tree: Tree, check: Check = never_cancel) -> Tree:
    """Prune nodes that lead to no value; return the tree itself if there are none."""
    return tree if _leads_to_values(tree).all() else prune(tree, check)


def prune(tree: Tree, check: Check = never_cancel) -> Tree:
    """Remove nodes without a value at or below them, and frames without a node."""
    check()
    remaining = np.flatnonzero(_leads_to_values(tree))
    rank = np.full(len(tree.parent), -1, np.int64)
    rank[remaining] = np.arange(len(remaining))
    used, frame = np.unique(tree.frame[remaining], return_inverse=True)
    return replace(
        tree,
        frames=_select_frames(tree.frames, used),
        id=tree.id[remaining],
        parent=_take(rank, tree.parent[remaining]).astype(np.int32),
        frame=frame.astype(np.int32),
        self=tree.self[:, remaining],
        labelled=_move_labelled(tree.labelled, rank),
    )


def _leads_to_values(tree: Tree) -> Nodes:
    valued: Nodes = np.array(tree.self.any(axis=0), bool)
    if tree.labelled:
        valued[tree.labelled.node] = True
    return node_totals(tree.parent, valued.astype(np.int64)) > 0


def _select_frames(frames: Frames, used: NDArray[np.int32]) -> Frames:
    return replace(
        frames,
        id=frames.id[used],
        name=frames.name[used],
        file=frames.file[used],
        line=frames.line[used],
        mapping=frames.mapping[used],
        is_label=None if frames.is_label is None else frames.is_label[used],
        start_line=None if frames.start_line is None else frames.start_line[used],
    )
