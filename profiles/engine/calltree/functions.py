"""Functions: which nodes of a tree are calls of the same function, by name and file."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import checkpoint
from profiles.engine.loops import function_ids
from profiles.engine.string_table import StringTable


@dataclass(frozen=True, slots=True)
class TreeFunctions:
    """The functions of a tree's nodes, U of them, in order of their ids."""

    id: NDArray[np.uint64]  # [U], equal for equal functions everywhere
    frame: NDArray[np.int32]  # [U], a frame of each
    of_node: NDArray[np.int32]  # [N], which one each node calls


def functions_of(tree: Tree) -> TreeFunctions:
    checkpoint()
    frames = tree.frames
    ids = function_ids(StringTable.of(frames.strings).ids(), frames.name, frames.file)
    # Of the nodes, not of the frames: a part of a tree keeps the frames of the whole.
    used, frame = np.unique(tree.frame, return_inverse=True)
    found, first, function = np.unique(ids[used], return_index=True, return_inverse=True)
    return TreeFunctions(found, used[first], function.astype(np.int32)[frame])


def names_of(tree: Tree, functions: TreeFunctions) -> tuple[list[str], list[str]]:
    """The name and the file of each function."""
    frames, strings = tree.frames, tuple(tree.frames.strings)
    names = [strings[i] for i in frames.name[functions.frame].tolist()]
    return names, [strings[i] for i in frames.file[functions.frame].tolist()]
