"""Inversion of call trees: callers become the children of their callees."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.reshape import prune, sum_on_path
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.hashing import node_ids

MAX_STEPS = 50_000_000  # steps from node to parent over all stacks; bounds time and memory


def bottom_up(tree: Tree, check: Check = never_cancel) -> Tree:
    """Invert the tree from each node with a self value; the roots' totals are the self values.

    Group the tree by function first, or each line becomes a root. A split tree keeps its roots, the
    values of the label, each above an inverted tree of its own. Sample labels are dropped. Raise
    `TooManyFrames` if the stacks have too many frames in total.
    """
    starts = np.flatnonzero(tree.self.any(axis=0))
    values, heads, is_label = tree.self[:, starts], None, tree.frames.is_label
    if is_label is not None:
        roots = np.flatnonzero(is_label[tree.frame])
        number = np.zeros(len(tree.parent), np.int64)
        number[roots] = roots
        heads = tree.frame[sum_on_path(tree, number, check)[starts]]
        below_root = np.isin(tree.parent, roots)
        tree = replace(tree, parent=np.where(below_root, np.int32(-1), tree.parent))
    return prune(invert_tree(tree, starts, values, heads=heads, check=check), check)


def invert_tree(
    tree: Tree,
    starts: NDArray[np.int64],
    values: NDArray[np.int64],
    max_steps: int = MAX_STEPS,
    heads: NDArray[np.int32] | None = None,
    check: Check = never_cancel,
) -> Tree:
    """Build the tree of the paths from the nodes `starts` [S] to the root, with values [K, S].

    Its roots are the frames of `starts`, or with `heads` [S] these frames, above each start. The
    value of a path becomes the self value of its last node, whose frame is the root in `tree`.
    Sample labels are dropped. Raise `TooManyFrames` if the paths have more than `max_steps` nodes
    in total.
    """
    growing = _Growing(len(tree.metrics), max_steps)
    above = np.full(len(starts), -1, np.int64)
    if heads is not None and len(starts):
        above = growing.level(above, heads.astype(np.int64))
    while len(starts):
        check()
        above = growing.level(above, tree.frame[starts].astype(np.int64))
        parent = tree.parent[starts]
        ends, inside = parent < 0, parent >= 0
        growing.end(above[ends], values[:, ends])
        starts, above, values = parent[inside].astype(np.int64), above[inside], values[:, inside]
    check()
    return growing.tree(tree)


class TooManyFrames(Exception):
    """Stacks with too many frames in total to be inverted; the message names the limit."""

    def __init__(self, allowed: int) -> None:
        super().__init__(
            f"These stacks have more than {allowed:,} frames in total, the limit for inverting "
            "them. Select fewer profiles, or hide some stacks."
        )


class _Growing:
    """Builder of the inverted tree, one level at a time."""

    def __init__(self, width: int, max_steps: int) -> None:
        self.count = 0
        self.steps = 0
        self.max_steps = max_steps
        self.parents = [np.zeros(0, np.int64)]
        self.frames = [np.zeros(0, np.int64)]
        self.ends = [np.zeros(0, np.int64)]
        self.values = [np.zeros((width, 0), np.int64)]

    def level(self, above: NDArray[np.int64], frame: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the node of each (parent node or -1, frame); equal pairs share a node."""
        self.steps += len(above)
        if self.steps > self.max_steps:
            raise TooManyFrames(self.max_steps)
        width = int(frame.max()) + 1
        distinct, inverse = np.unique((above + 1) * width + frame, return_inverse=True)
        self.parents.append(distinct // width - 1)
        self.frames.append(distinct % width)
        node: NDArray[np.int64] = inverse + self.count
        self.count += len(distinct)
        return node

    def end(self, nodes: NDArray[np.int64], values: NDArray[np.int64]) -> None:
        self.ends.append(nodes)
        self.values.append(values)

    def tree(self, like: Tree) -> Tree:
        parent = np.concatenate(self.parents).astype(np.int32)
        frame = np.concatenate(self.frames).astype(np.int32)
        own = np.zeros((len(like.metrics), self.count), np.int64)
        ends = np.concatenate(self.ends)
        for sums, row in zip(own, np.concatenate(self.values, axis=1), strict=True):
            np.add.at(sums, ends, row)
        ids = node_ids(parent, frame, like.frames.id)
        return Tree(like.metrics, like.frames, ids, parent, frame, own)
