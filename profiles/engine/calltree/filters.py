"""Filters: which stacks and frames of a tree are shown; the console's and pprof's."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.patterns import matching_frames
from profiles.engine.calltree.reshape import Nodes, from_nodes, only_stacks, opened, without_nodes
from profiles.engine.calltree.tree import Tree


@dataclass(frozen=True, slots=True)
class Filters:
    """Each value is part of a function's or file's name, or `/an expression/`.

    Several values of one kind: a frame matches if any of them does.
    """

    show: tuple[str, ...] = ()  # keep the stacks with a match
    hide: tuple[str, ...] = ()  # drop the stacks with a match; wins over show
    hide_frames: tuple[str, ...] = ()  # drop matching frames alone; what they cost stays
    show_from: tuple[str, ...] = ()  # drop what is above the match nearest the root


def filtered(tree: Tree, filters: Filters) -> Tree:
    """The tree as it is shown: stacks first, then frames, then show-from.

    Without filters it is the tree itself. BadPattern if a value cannot be used.
    """
    if filters.show or filters.hide:
        tree = only_stacks(tree, _stacks(tree, filters))
    if filters.hide_frames:
        tree = without_nodes(tree, _nodes(tree, filters.hide_frames))
    if filters.show_from:
        tree = from_nodes(tree, _nodes(tree, filters.show_from))
    return tree


def highlighted(tree: Tree, values: tuple[str, ...]) -> NDArray[np.int64]:
    """Indexes of the nodes whose frame matches any of the values, in order."""
    return np.flatnonzero(_nodes(tree, values))


def _stacks(tree: Tree, filters: Filters) -> Nodes:
    """The nodes at which a stack ends that is shown."""
    ends = np.ones(len(tree.parent), bool)
    if filters.show:
        ends &= opened(tree, _nodes(tree, filters.show)) > 0
    if filters.hide:
        ends &= opened(tree, _nodes(tree, filters.hide)) == 0
    return ends


def _nodes(tree: Tree, values: tuple[str, ...]) -> Nodes:
    return matching_frames(tree.frames, values)[tree.frame]
