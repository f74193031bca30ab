"""Direct callers and callees of a function, counted like `go tool pprof -peek`."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.forest import mark_outermost
from profiles.engine.calltree.functions import TreeFunctions, find_functions
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.top import mark_named
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel


class Neighbour(NamedTuple):
    """Direct caller or callee of a function."""

    name: str
    file: str
    total: int  # sum of the stacks in which one calls the other directly


@dataclass(frozen=True, slots=True)
class Peek:
    """Callers and callees, sorted by descending total; totals may overlap if there is recursion."""

    callers: tuple[Neighbour, ...] = ()
    callees: tuple[Neighbour, ...] = ()


def peek(tree: Tree, name: str, metric: int = 0, check: Check = never_cancel) -> Peek:
    """Return the neighbours of the functions with this name, in a tree grouped by function.

    All files count. Every call counts, including nested calls; a stack counts once for each pair of
    caller and callee, however often the pair occurs in it. Recursive calls are left out.
    """
    its = mark_named(tree.frames, name)[tree.frame]
    child = np.flatnonzero(tree.parent >= 0)
    above = tree.parent[child]
    into, out = its[child] & ~its[above], its[above] & ~its[child]
    functions = find_functions(tree, check)
    total = totals(tree.parent, tree.self[metric], check)
    return Peek(
        _neighbours(tree, functions, total, child[into], above[into]),
        _neighbours(tree, functions, total, child[out], child[out]),
    )


def _neighbours(
    tree: Tree,
    functions: TreeFunctions,
    total: NDArray[np.int64],
    calls: NDArray[np.int64],
    neighbours: NDArray[np.signedinteger],
) -> tuple[Neighbour, ...]:
    """Sum the totals of `calls` by the function at the other end, whose nodes are `neighbours`.

    A call below another call of the same pair is part of that call's total and not added again.
    """
    none = len(functions.id)
    function = functions.of_node[neighbours]
    pair = np.full(len(tree.parent), none, np.int32)
    pair[calls] = function
    counted = mark_outermost(tree.parent, pair, none + 1)[calls] != 0
    sums = np.zeros(none, np.int64)
    np.add.at(sums, function[counted], total[calls[counted]])
    frames, strings = tree.frames, tree.frames.strings
    found = [
        Neighbour(strings[frames.name[frame]], strings[frames.file[frame]], int(sums[i]))
        for i in np.flatnonzero(sums)
        for frame in [functions.frame[i]]
    ]
    return tuple(sorted(found, key=lambda row: (-row.total, row.name, row.file)))
