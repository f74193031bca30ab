"""Alignment of two call trees on one set of nodes."""

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.forest import StringPool
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.string_table import StringTable


def align(a: Tree, b: Tree, check: Check = never_cancel) -> tuple[Tree, NDArray[np.int64]]:
    """Align two trees: the nodes of `a`, followed by the nodes that only `b` has.

    Return the aligned tree, with self values [2, N] of the first metric of each side, and the index
    in it of each node of `b`. Sample labels are dropped.
    """
    check()
    node_of_b, new = _locate(a.id, b.id)
    frame_of_b, new_frames = _locate(a.frames.id, b.frames.id)
    parent = np.where(b.parent < 0, -1, node_of_b[b.parent]).astype(np.int32)
    own = np.zeros((2, len(a.id) + int(new.sum())), np.int64)
    own[0, : len(a.id)] = a.self[0]
    own[1, node_of_b] = b.self[0]
    check()
    both = Tree(
        metrics=(a.metrics[0], b.metrics[0]),
        frames=_frames(a.frames, b.frames, new_frames),
        id=np.concatenate([a.id, b.id[new]]),
        parent=np.concatenate([a.parent, parent[new]]),
        frame=np.concatenate([a.frame, frame_of_b[b.frame][new].astype(np.int32)]),
        self=own,
    )
    return both, node_of_b


def _locate(
    first: NDArray[np.uint64], second: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Locate the ids of `second` in `first`, extended by the ids that `first` lacks.

    Return the index of each id of `second`, and the mask of the ids that `first` lacks.
    """
    order = np.argsort(first)
    position = np.searchsorted(first, second, sorter=order)
    candidate = np.append(order, -1)[position]
    new = candidate < 0
    new[~new] = first[candidate[~new]] != second[~new]
    return np.where(new, len(first) + np.cumsum(new) - 1, candidate), new


def _frames(a: Frames, b: Frames, new: NDArray[np.bool_]) -> Frames:
    """Combine the frames of `a` with the new frames of `b`.

    Strings are not decoded: most are equal on both sides, and many are never shown.
    """
    pool = StringPool()
    strings_a, strings_b = (StringTable.from_strings(frames.strings) for frames in (a, b))

    def pool_column(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int32]:
        indexes = [
            pool.insert(texts.data, texts.ends, np.ascontiguousarray(column))
            for texts, column in ((strings_a, first), (strings_b, second[new]))
        ]
        return np.concatenate(indexes)

    name, file = pool_column(a.name, b.name), pool_column(a.file, b.file)
    mapping = pool_column(a.mapping, b.mapping)
    return Frames(
        StringTable(*pool.table()),
        id=np.concatenate([a.id, b.id[new]]),
        name=name,
        file=file,
        line=np.concatenate([a.line, b.line[new]]),
        mapping=mapping,
        start_line=np.concatenate([a.get_start_lines(), b.get_start_lines()[new]]),
    )
