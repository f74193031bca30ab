"""Merge with Σtotal² over profiles, from which comparisons compute their intervals.

It works by function and for one metric. Results add up over disjoint sets of profiles, and equal
those of the single profiles within rounding, however the profiles are distributed over blocks.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from profiles.engine.accumulators.merge import MAX_NODES, Merge
from profiles.engine.blocks.block import Block, UsedSums
from profiles.engine.blocks.day import DayBlock
from profiles.engine.blocks.hour import HourBlock
from profiles.engine.blocks.row_variance import UsedVariance, compute_variance, taken
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.calltree.tree import Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.encoding.codec import Numbers, encode, read_numbers, reading
from profiles.engine.encoding.json_header import read_metrics
from profiles.engine.metrics import Metric
from profiles.engine.stats.variance import VarianceSums


@dataclass(frozen=True, slots=True)
class NodeVariance:
    """Variation over profiles of the totals of a tree's N nodes."""

    square: NDArray[np.float64]  # [N], Σtotal²
    present: NDArray[np.int64]  # [N], profiles in which the total is not zero


@dataclass(frozen=True)
class FunctionVariance:
    """Variation over profiles of F functions, the tree's frames; totals count recursion once."""

    tree: Tree  # by function, one metric
    self_square: NDArray[np.float64]  # [F], Σself² over profiles
    self_present: NDArray[np.int64]  # [F], profiles in which self is not zero
    total_square: NDArray[np.float64]
    total_present: NDArray[np.int64]

    @cached_property
    def name(self) -> tuple[str, ...]:
        """Return the name of each function, [F]."""
        frames = self.tree.frames
        return tuple(frames.select_strings(frames.name))

    @cached_property
    def file(self) -> tuple[str, ...]:
        """Return the file of each function, [F]."""
        frames = self.tree.frames
        return tuple(frames.select_strings(frames.file))


@dataclass(frozen=True, slots=True)
class TreeVariance:
    """Merged tree with the variation of its nodes and functions."""

    tree: Tree  # by function, one metric
    nodes: NodeVariance  # of the nodes of `tree`
    functions: FunctionVariance
    whole: NodeVariance  # of the totals of the profiles, [1]


class VarianceMerge(Merge):
    """Merge by function, over one metric, that also keeps sums of squares and counts."""

    def __init__(
        self,
        metric: Metric,
        max_nodes: int = MAX_NODES,
        profile_type: str = "",
        check: Check = never_cancel,
    ) -> None:
        super().__init__([metric], True, max_nodes, profile_type, check)
        self._variance_sums = VarianceSums()
        self._whole_square, self._whole_present = 0.0, 0

    def add_tree(self, tree: Tree) -> None:
        """Add a tree as one profile."""
        self.add_encoded(encode(tree))

    def add_encoded(self, data: bytes, numbers: Numbers | None = None) -> None:
        """Add a stored tree as one profile."""
        numbers = numbers or read_numbers(data)
        with reading():
            metrics = self._map_to_canonical(read_metrics(numbers.head["metrics"]))
        if self.metrics[0] in metrics:
            is_new = self._add_packed(numbers, data)
            self._variance_sums.add_tree(self._packed, is_new)
            _node, values = self._packed.sparse_values()
            self._add_whole(values.sum(keepdims=True))

    def add_hour(self, block: HourBlock, profiles: Rows | None = None) -> None:
        """Add the marked profiles of an hour block (None: all); no effect without the metric."""
        metric = self._find_metric(block)
        if metric is not None:
            sums = block.get_used_sums([metric], profiles, by_function=True, check=self._check)
            variance = compute_variance(block, metric, profiles, sums.used, self._check)
            self._add_variance(block, sums, variance)
            marked = slice(None) if profiles is None else profiles
            self._add_whole(block.profiles.totals[metric][marked])

    def add_day(self, block: DayBlock, groups: Rows | None = None) -> None:
        """Add the marked groups of a day block (None: all groups).

        Raise `ValueError` if the block has no sums of squares: its hour blocks must be added
        instead.
        """
        metric = self._find_metric(block)
        if metric is not None:
            sums = block.get_used_sums([metric], groups, by_function=True, check=self._check)
            self._add_variance(block, sums, taken(block.variance(metric, groups), sums.used))
            marked = slice(None) if groups is None else groups[block.groups.of_profile]
            self._add_whole(block.profiles.totals[metric][marked])

    def variance(self) -> TreeVariance:
        """Return the merged tree with its sums of squares and counts."""
        tree = self.tree()
        nodes, functions = self._variance_sums.tables(len(tree.id), len(tree.frames.id))
        return TreeVariance(
            tree=tree,
            nodes=NodeVariance(nodes[0], nodes[1].astype(np.int64)),
            functions=FunctionVariance(
                tree=tree,
                self_square=functions[0],
                self_present=functions[1].astype(np.int64),
                total_square=functions[2],
                total_present=functions[3].astype(np.int64),
            ),
            whole=NodeVariance(
                np.array([self._whole_square]), np.array([self._whole_present], np.int64)
            ),
        )

    def _find_metric(self, block: Block) -> int | None:
        """Return the metric's index in the block, or None if no profile of the block has it."""
        return block.metrics.index(self.metrics[0]) if self.metrics[0] in block.metrics else None

    def _add_whole(self, totals: NDArray[np.int64]) -> None:
        """Add the totals of profiles, one each; those of profiles without the metric are 0."""
        self._whole_square += float((totals.astype(np.float64) ** 2).sum())
        self._whole_present += int(np.count_nonzero(totals))

    def _add_variance(self, block: Block, sums: UsedSums, found: UsedVariance) -> None:
        used, frames, forest_node = self._add_sums(block, sums)
        self._variance_sums.reserve(self._forest.nodes.count, self._forest.frames.count)
        self._variance_sums.add_nodes(
            used.parent, forest_node, frames[used.frame], found.square, found.present
        )
        self._variance_sums.add_functions(frames, found.functions)
