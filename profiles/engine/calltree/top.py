"""Cost of each function over all its call sites, and of each of its lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.forest import node_totals, preorder_nodes, sum_by_function
from profiles.engine.calltree.functions import find_functions, get_names
from profiles.engine.calltree.reshape import count_on_path
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.cancellation import Check, never_cancel


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """Values of one metric for a function, identified by name and file."""

    name: str
    file: str
    self: int
    total: int  # recursion counted once
    count: int  # number of distinct stacks with a value that contain it


@dataclass(frozen=True, slots=True)
class LineValues:
    """Values of one metric for a line of a function."""

    line: int  # 0 if unknown
    self: int
    total: int  # recursion counted once


def top(tree: Tree, metric: int = 0, check: Check = never_cancel) -> list[FunctionRow]:
    """List the functions of a tree grouped by function, by self, total, name and file.

    Self and total are in descending order. Frames that are values of a label are left out.
    """
    functions = find_functions(tree, check)
    names, files = get_names(tree, functions)
    sums = function_sums(tree, functions.of_node, len(functions.id), metric, check)
    check()
    is_label = tree.frames.is_label
    listed = np.ones(len(names), bool) if is_label is None else ~is_label[functions.frame]
    columns = zip(names, files, *sums.tolist(), strict=True)
    rows = [FunctionRow(*row) for row in compress(columns, listed.tolist())]
    rows.sort(key=lambda row: (-row.self, -row.total, row.name, row.file))
    return rows


def function_cost(
    tree: Tree, name: str, metric: int = 0, check: Check = never_cancel
) -> FunctionRow | None:
    """Sum the cost of the functions with this name, in any file; None if there is none.

    `file` of the result is empty if there are several files.
    """
    calls = mark_named(tree.frames, name)[tree.frame]
    if not calls.any():
        return None
    own = tree.self[metric]
    reached = own[count_on_path(tree, calls, check) > 0]
    files = {tree.frames.strings[i] for i in tree.frames.file[tree.frame[calls]].tolist()}
    return FunctionRow(
        name=name,
        file=files.pop() if len(files) == 1 else "",
        self=int(own[calls].sum()),
        total=int(reached.sum()),
        count=int(np.count_nonzero(reached)),
    )


def lines(
    tree: Tree, name: str, file: str, metric: int = 0, check: Check = never_cancel
) -> list[LineValues]:
    """List the lines of one function in a tree with lines, by line number."""
    frames = tree.frames
    calls = (mark_named(frames, name) & _is(frames.strings, frames.file, file))[tree.frame]
    found = np.unique(frames.line[tree.frame[calls]])
    # The extra group at the end takes the nodes of other functions.
    group = np.where(calls, np.searchsorted(found, frames.line[tree.frame]), len(found))
    sums = function_sums(tree, group, len(found) + 1, metric, check)[:2, :-1]
    return [LineValues(*row) for row in zip(found.tolist(), *sums.tolist(), strict=True)]


def mark_named(frames: Frames, name: str) -> NDArray[np.bool_]:
    """Mark the frames with exactly this name, [F]."""
    return _is(frames.strings, frames.name, name)


def _is(strings: Sequence[str], column: NDArray[np.int32], text: str) -> NDArray[np.bool_]:
    distinct, inverse = np.unique(column, return_inverse=True)
    return np.array([strings[i] == text for i in distinct.tolist()], bool)[inverse]


def function_sums(
    tree: Tree,
    group: NDArray[np.signedinteger],
    groups: int,
    metric: int,
    check: Check = never_cancel,
) -> NDArray[np.int64]:
    """Sum (self, total, stacks) by group; `group` is that of each node: int64 [3, groups]."""
    check()
    own = np.ascontiguousarray(tree.self[metric])
    return sum_by_function(
        tree.parent,
        preorder_nodes(tree.parent, np.arange(len(tree.parent))),
        group.astype(np.int32),
        own,
        node_totals(tree.parent, own),
        node_totals(tree.parent, (own != 0).astype(np.int64)),
        groups,
    )
