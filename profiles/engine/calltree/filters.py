"""Filters for the stacks and frames of a call tree, as in the console and in pprof."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.patterns import matching_frames
from profiles.engine.calltree.reshape import (
    Nodes,
    count_on_path,
    from_nodes,
    remove_nodes,
    select_stacks,
)
from profiles.engine.calltree.top import mark_named
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel


@dataclass(frozen=True, slots=True)
class Filters:
    """Filter values: each is a part of a function or file name, or `/a regular expression/`.

    If there are several values of one kind, a frame matches if it matches any of them.
    """

    show: tuple[str, ...] = ()  # keep the stacks with a match
    hide: tuple[str, ...] = ()  # drop the stacks with a match; wins over show
    hide_frames: tuple[str, ...] = ()  # drop matching frames; their values go to their callers
    show_from: tuple[str, ...] = ()  # drop the frames above the match nearest the root


def filter_tree(tree: Tree, filters: Filters, check: Check = never_cancel) -> Tree:
    """Apply the filters in the order stacks, frames, show-from.

    Return the tree itself if there are no filters. Raise `BadFilterPattern` if a value is invalid.
    """
    if filters.show or filters.hide:
        tree = select_stacks(tree, _stacks(tree, filters, check), check)
    if filters.hide_frames:
        tree = remove_nodes(tree, _nodes(tree, filters.hide_frames, check), check)
    if filters.show_from:
        tree = from_nodes(tree, _nodes(tree, filters.show_from, check), check)
    return tree


def remaining_ends(
    tree: Tree, filters: Filters, focus: str | None = None, check: Check = never_cancel
) -> Nodes:
    """Mark the nodes whose self values remain in the tree after all filters.

    With a `focus`, only stacks that then reach the function of this name remain. Only the shape
    and the names of the tree are used. Raise `BadFilterPattern` if a value is invalid.
    """
    ends, shown = _stacks(tree, filters, check), np.ones(len(tree.parent), bool)
    if filters.hide_frames:
        shown &= ~_nodes(tree, filters.hide_frames, check)
        ends &= count_on_path(tree, shown, check) > 0
    if filters.show_from:
        starts = _nodes(tree, filters.show_from, check) & shown
        below = count_on_path(tree, starts, check) > 0
        shown &= below
        ends &= below
    if focus is not None:
        calls = mark_named(tree.frames, focus)[tree.frame] & shown
        ends &= count_on_path(tree, calls, check) > 0
    return ends


def find_highlighted(
    tree: Tree, values: tuple[str, ...], check: Check = never_cancel
) -> NDArray[np.int64]:
    """Return the indexes of the nodes whose frame matches any of the values, in ascending order."""
    return np.flatnonzero(_nodes(tree, values, check))


def _stacks(tree: Tree, filters: Filters, check: Check) -> Nodes:
    """Mark the nodes at which a stack ends that passes the filters."""
    ends = np.ones(len(tree.parent), bool)
    if filters.show:
        ends &= count_on_path(tree, _nodes(tree, filters.show, check), check) > 0
    if filters.hide:
        ends &= count_on_path(tree, _nodes(tree, filters.hide, check), check) == 0
    return ends


def _nodes(tree: Tree, values: tuple[str, ...], check: Check) -> Nodes:
    return matching_frames(tree.frames, values, check)[tree.frame]
