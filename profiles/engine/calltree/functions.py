"""Functions of a call tree, identified by name and file, and the nodes that call them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.hashing import function_ids
from profiles.engine.string_table import StringTable


@dataclass(frozen=True, slots=True)
class TreeFunctions:
    """U functions of a tree's N nodes, sorted by id."""

    id: NDArray[np.uint64]  # [U], the same for a function in every tree
    frame: NDArray[np.int32]  # [U], one frame of each function
    of_node: NDArray[np.int32]  # [N], function of each node


def find_functions(tree: Tree, check: Check = never_cancel) -> TreeFunctions:
    """Identify the functions that the nodes of a tree call."""
    check()
    frames = tree.frames
    ids = function_ids(StringTable.from_strings(frames.strings).ids(), frames.name, frames.file)
    # Frames of the nodes only: a subtree has all frames of the complete tree.
    used, frame = np.unique(tree.frame, return_inverse=True)
    found, first, function = np.unique(ids[used], return_index=True, return_inverse=True)
    return TreeFunctions(found, used[first], function.astype(np.int32)[frame])


def get_names(tree: Tree, functions: TreeFunctions) -> tuple[list[str], list[str]]:
    """Return the name and the file of each function."""
    frames, strings = tree.frames, tuple(tree.frames.strings)
    names = [strings[i] for i in frames.name[functions.frame].tolist()]
    return names, [strings[i] for i in frames.file[functions.frame].tolist()]
