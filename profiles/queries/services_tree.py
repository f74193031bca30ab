"""Call tree of several services, whose functions are identified by name alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from django.conf import settings

from profiles.engine.accumulators.merge import Merge
from profiles.engine.calltree.focus import focus_tree
from profiles.engine.calltree.reshape import count_on_path, select_stacks, with_values
from profiles.engine.calltree.subtree import fold
from profiles.engine.calltree.top import FunctionRow, function_cost, top
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.scan import explain_errors, require_64_bits
from profiles.queries.selection import MetricNotFound, ProfileSelection, View
from profiles.queries.tree_merge import TreeMerge
from profiles.queries.views import explain_view_errors


class FoldedTree(NamedTuple):
    """Tree without its smallest nodes, and by node (number, total) of those removed below it."""

    tree: Tree
    folded: dict[int, tuple[int, int]]


class FunctionFocus(NamedTuple):
    """Callers and callees of a function; recursion counts once, at the outermost call."""

    row: FunctionRow | None  # None: no stack reaches the function
    callers: FoldedTree  # inverted: a node's children are its callers
    callees: FoldedTree


@dataclass(frozen=True, slots=True)
class ServicesTree:
    """Sum over services, by function, in one metric; nodes have a value at or below them."""

    context: QueryContext
    tree: Tree

    def fold(self, max_nodes: int) -> FoldedTree:
        """Return the `max_nodes` nodes with the greatest totals."""
        return FoldedTree(*fold(self.tree, max_nodes, self.context.check))

    def functions(self) -> tuple[FunctionRow, ...]:
        """List the functions of all stacks, by self, then total, then name."""
        return tuple(top(self.tree, check=self.context.check))

    def focus(self, name: str, max_nodes: int) -> FunctionFocus:
        """Return a function's callers and callees, with at most `max_nodes` nodes each.

        Raise InvalidQuery if the stacks are too long to be inverted.
        """
        check = self.context.check
        row = function_cost(self.tree, name, check=check)
        with explain_view_errors():
            both = focus_tree(self.tree, name, check)
        sides = (FoldedTree(*fold(side, max_nodes, check)) for side in (both.callers, both.callees))
        return FunctionFocus(row, *sides)

    def with_prefix(self, call_site: Sequence[str]) -> "ServicesTree":
        """Keep the stacks that begin with these functions, from the root."""
        tree = self.tree
        names = list(tree.frames.select_strings(tree.frames.name))
        frame_of_name = {name: number for number, name in enumerate(names)}
        node = -1
        for name in call_site:
            is_next = (tree.parent == node) & (tree.frame == frame_of_name.get(name, -1))
            found = np.flatnonzero(is_next)
            if not len(found):
                return replace(self, tree=select_stacks(tree, np.zeros(len(tree.parent), bool)))
            node = int(found[0])
        begins = np.zeros(len(tree.parent), bool)
        begins[node] = True
        check = self.context.check
        return replace(
            self, tree=select_stacks(tree, count_on_path(tree, begins, check) > 0, check)
        )


def run_services_tree(
    context: QueryContext, selections: Iterable[ProfileSelection], metric: Metric
) -> ServicesTree:
    """Merge the matching profiles of all selections that have the metric.

    Functions of one name are one function, whatever their file. Raise InvalidQuery if the tree has
    more than MAX_QUERY_NODES nodes, or if the sum passes 64 bits.
    """
    merge = Merge([metric], True, settings.MAX_QUERY_NODES, check=context.check)
    view, total = View(metric=metric), 0
    with context.snapshot:
        for selection in selections:
            context.check()
            try:
                tree, coverage = TreeMerge(selection, view).run(context).sum
            except MetricNotFound:
                continue
            total += coverage.total
            with explain_errors():
                require_64_bits(total)
                merge.add_tree(replace(tree, metrics=(metric,), frames=_remove_files(tree.frames)))
    return ServicesTree(context, with_values(merge.tree(), context.check))


def _remove_files(frames: Frames) -> Frames:
    strings = [*frames.strings, ""]
    file = np.full(len(frames.file), len(strings) - 1, np.int32)
    return replace(frames, strings=strings, file=file)
