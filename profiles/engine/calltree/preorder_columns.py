"""Call tree as pre-order columns for JSON; readers derive totals and offsets from them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.forest import (
    node_depths,
    node_totals,
    number_by_first_use,
    preorder_nodes,
)
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.cancellation import Check, never_cancel


class FoldedColumns(TypedDict):
    """Nodes removed by subtree.fold: below row `at`, `count` nodes with a total of `total`."""

    at: list[int]
    count: list[int]
    total: list[int]


class FrameColumns(TypedDict):
    """Distinct frames; `name` and `file` are indexes of the columns' `names` and `files`."""

    name: list[int]
    file: list[int]
    line: NotRequired[list[int]]  # only if grouped by line


class TreeColumns(TypedDict):
    """Columns of the JSON described in docs/reference/api.md; values are sums over the profiles.

    All are integers. There are no node ids: they are hashes of the data here
    (docs/decisions/0003-ids.md).
    """

    names: list[str]
    files: list[str]
    frames: FrameColumns
    frame: list[int]  # index of `frames` of each node
    depth: list[int]
    self: list[int]
    folded: FoldedColumns
    highlight: NotRequired[list[int]]  # rows, absent if there are none
    labels: NotRequired[list[int]]  # `frames` that are values of a label; absent if there are none


def totals(
    parent: NDArray[np.int32], own: NDArray[np.int64], check: Check = never_cancel
) -> NDArray[np.int64]:
    """Return the total of each node, [N]: its self value plus the totals of its children.

    `parent` is as in Tree: parents come before their children.
    """
    check()
    return node_totals(parent, np.ascontiguousarray(own))


def depths(parent: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the depth of each node, [N]; roots have depth 0."""
    return node_depths(parent)


def pre_order(tree: Tree, by_name: bool = False, check: Check = never_cancel) -> NDArray[np.int64]:
    """Return the node indexes in pre-order, [N], with siblings by total then name, or by name."""
    children = np.bincount(tree.parent + 1)[tree.parent + 1]
    alone, siblings = np.flatnonzero(children == 1), np.flatnonzero(children > 1)
    rank = _name_ranks(tree.frames, tree.frame[siblings])
    total = totals(tree.parent, tree.self[0], check)[siblings]
    keys = (tree.id[siblings], rank) if by_name else (tree.id[siblings], rank, -total)
    return preorder_nodes(tree.parent, np.concatenate([alone, siblings[np.lexsort(keys)]]))


def _name_ranks(frames: Frames, frame: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the alphabetical rank of each frame's name."""
    first, name = number_by_first_use(frames.name[frame], len(frames.strings))
    texts = list(frames.select_strings(frames.name[frame[first]]))
    order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    return _ranks(order)[name]


def to_columns(
    tree: Tree,
    by_name: bool = False,
    lines: bool = False,
    folded: Mapping[int, tuple[int, int]] | None = None,
    highlighted: Sequence[int] = (),
    check: Check = never_cancel,
) -> TreeColumns:
    """Convert a tree with one metric to columns.

    `folded` is the result of subtree.fold, by node; `highlighted` are node indexes.
    """
    return to_ordered_columns(tree, by_name, lines, folded, highlighted, check)[0]


def to_ordered_columns(
    tree: Tree,
    by_name: bool = False,
    lines: bool = False,
    folded: Mapping[int, tuple[int, int]] | None = None,
    highlighted: Sequence[int] = (),
    check: Check = never_cancel,
) -> tuple[TreeColumns, NDArray[np.int64]]:
    """Convert like `to_columns`, and return the node index of each row, for further columns."""
    # Strings are read several times: decode them once.
    frames = replace(tree.frames, strings=tuple(tree.frames.strings))
    order = pre_order(replace(tree, frames=frames), by_name, check)
    check()
    used, frame = _distinct(frames, tree.frame[order], lines)
    names, name = _select_used(frames.strings, frames.name[used])
    files, file = _select_used(frames.strings, frames.file[used])
    table: FrameColumns = {"name": name, "file": file}
    if lines:
        table["line"] = frames.line[used].tolist()
    check()
    columns: TreeColumns = {
        "names": names,
        "files": files,
        "frames": table,
        "frame": frame.tolist(),
        "depth": depths(tree.parent)[order].tolist(),
        "self": tree.self[0][order].tolist(),
        "folded": _fold_columns(order, folded or {}),
    }
    if highlighted:
        columns["highlight"] = np.flatnonzero(np.isin(order, highlighted)).tolist()
    if frames.is_label is not None:
        columns["labels"] = np.flatnonzero(frames.is_label[used]).tolist()
    return columns, order


def _distinct(
    frames: Frames, frame: NDArray[np.int32], lines: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a frame for each distinct name, file and (if `lines`) line, and the index of each.

    They are in order of first use; frames that differ only in their binary become one. A value of a
    label is never one with a function.
    """
    first, number = number_by_first_use(frame, len(frames.id))
    used = frame[first]
    group = _number_pairs(frames.name[used], frames.file[used])
    if lines:
        group = _number_pairs(group, frames.line[used])
    if frames.is_label is not None:
        group = _number_pairs(group, frames.is_label[used].astype(np.int32))
    first, number_of_used = number_by_first_use(group, len(used))
    return used[first], number_of_used[number]


def _number_pairs(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number the distinct pairs and return the number of each pair; the inputs are not negative."""
    pairs = first.astype(np.int64) << 32 | second
    numbers: NDArray[np.int32] = np.unique(pairs, return_inverse=True)[1].astype(np.int32)
    return numbers


def _fold_columns(order: NDArray[np.int64], folded: Mapping[int, tuple[int, int]]) -> FoldedColumns:
    nodes = order.tolist() if folded else []
    rows = {node: row for row, node in enumerate(nodes) if node in folded}
    return {
        "at": list(rows.values()),
        "count": [folded[node][0] for node in rows],
        "total": [folded[node][1] for node in rows],
    }


def _select_used(strings: Sequence[str], index: NDArray[np.int32]) -> tuple[list[str], list[int]]:
    """Return the strings in use, in order of first use, and the indexes into them."""
    first, number = number_by_first_use(index, len(strings))
    return [strings[i] for i in index[first].tolist()], number.tolist()


def _ranks(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each index in `order`."""
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
