"""Totals of single profiles after filters of stacks, split by the values of a sample label.

No call trees are merged: an hour with thousands of profiles costs one pass over its values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block
from profiles.engine.blocks.sections.sample_labels import LabelledValues, Labels
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.calltree.filters import Filters, remaining_ends
from profiles.engine.calltree.reshape import Nodes
from profiles.engine.calltree.samples import (
    SampleLabels,
    find_value,
    matches_unlabelled,
    matching_sets,
)
from profiles.engine.calltree.tree import Frames, LabelledSelf, Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.encoding.codec import open_stored, read_numbers, reading
from profiles.engine.encoding.json_header import read_metrics
from profiles.engine.encoding.stored_tree import label_values
from profiles.engine.metrics import Metric, canonical


class LabelTotals(NamedTuple):
    """X totals by row and value of the label; each pair of these occurs once."""

    values: tuple[str | None, ...]  # None: without the label
    row: NDArray[np.int64]  # [X], row of the block; 0 for a stored tree
    value: NDArray[np.int64]  # [X], index of `values`
    total: NDArray[np.int64]  # [X]


class _Labelled(NamedTuple):
    """Values of one metric with sample labels."""

    label_sets: tuple[Labels, ...]
    row: NDArray[np.int64]
    label_set: NDArray[np.int32]
    values: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelTotalsReader:
    """Reader of the totals that remain after filters, of blocks and stored trees."""

    metric: Metric
    profile_type: str
    filters: Filters
    focus: str | None = None  # full name of a function that the stacks must reach
    samples: SampleLabels = ()  # only samples that match these labels
    name: str = ""  # of the sample label to split by; "": do not split
    check: Check = never_cancel

    def read_block(self, block: Block, rows: Rows) -> LabelTotals:
        """Return the totals of the marked rows of a block that has the metric.

        Raise `BadBlock` if a section that is needed cannot be read, and `BadProfile` if the sums
        of a day block may exceed 64 bits.
        """
        metric = block.metrics.index(self.metric)
        ends = self._mark_block_ends(block)
        totals = np.zeros(block.rows, np.int64)
        if self._counts_unlabelled:
            totals = block.row_totals(metric, rows, ends, self.check)
        labelled = block.select_labelled(rows) if self.samples or self.name else None
        counts = None if ends is None else ends[block.node_of_line]
        return self._split(totals, np.flatnonzero(rows), _select_values(labelled, metric, counts))

    def read_tree(self, data: bytes, total: int) -> LabelTotals:
        """Return the totals of a tree encoded by codec.encode; they all have row 0.

        `total` is that of the tree in the metric. Raise `BadTree` if the bytes are not a stored
        tree.
        """
        if not self.is_restricted:
            return self._split_total(data, total)
        stored = open_stored(data, labels=bool(self.samples or self.name))
        metric = canonical(self.profile_type, stored.metrics).index(self.metric)
        ends = None
        values = stored.values[metric]
        if self._has_filters:
            with reading():
                strings = stored.strings
            function_of_frame = stored.frames.function
            name = stored.frames.function_name[function_of_frame]
            file = stored.frames.function_file[function_of_frame]
            frames = _build_frames(strings, name, file)
            ends = self._mark_ends(_bare_tree(self.metric, frames, stored.parent, stored.frame))
            values = values[ends[stored.node]]
        totals = np.zeros(1, np.int64)
        if self._counts_unlabelled:
            totals[0] = values.sum()
        rows = np.zeros(1, np.int64)
        return self._split(totals, rows, _select_values(stored.labelled, metric, ends))

    def _split_total(self, data: bytes, total: int) -> LabelTotals:
        """Split the total of a stored tree, of which only the values with labels are read.

        This runs for each profile of the head, so it makes no objects of the tree's label sets.
        """
        numbers = read_numbers(data)
        index, of_set = dict[str | None, int]({None: 0}), list[int]()
        with reading():
            head = numbers.head
            metrics = canonical(self.profile_type, read_metrics(head["metrics"]))
            for labels in head["labels"]:
                value = next((str(text) for key, text, _ in labels if key == self.name), None)
                of_set.append(index.setdefault(value, len(index)))
            sums = np.zeros(len(index), np.int64)
            if self.name and of_set:
                metric = metrics.index(self.metric)
                label_set, values = label_values(numbers.data, head, numbers.offset, metric)
                np.add.at(sums, np.array(of_set, np.int64)[label_set], values)
        sums[0] = total - sums[1:].sum()
        row, number = np.zeros(len(sums), np.int64), np.arange(len(sums))
        return LabelTotals(tuple(index), row, number, sums)

    @property
    def is_restricted(self) -> bool:
        """Return True if some values of a profile may not count."""
        return self._has_filters or bool(self.samples)

    @property
    def _counts_unlabelled(self) -> bool:
        return matches_unlabelled(self.samples)

    @property
    def _has_filters(self) -> bool:
        return self.filters != Filters() or self.focus is not None

    def _mark_block_ends(self, block: Block) -> Nodes | None:
        """Return a mask of the function nodes of a block whose values count; None: all."""
        if not self._has_filters:
            return None
        functions, tree = block.functions, block.tree
        frames = _build_frames(block.strings, functions.name, functions.file)
        return self._mark_ends(_bare_tree(self.metric, frames, tree.parent, tree.function))

    def _mark_ends(self, tree: Tree) -> Nodes:
        return remaining_ends(tree, self.filters, self.focus, self.check)

    def _split(
        self, totals: NDArray[np.int64], rows: NDArray[np.int64], labelled: _Labelled | None
    ) -> LabelTotals:
        """Split the totals of the rows; values without labels are what the labelled ones leave."""
        totals = totals.copy()
        if labelled is None:
            return LabelTotals((None,), rows, np.zeros(len(rows), np.int64), totals[rows])
        if self._counts_unlabelled:
            np.subtract.at(totals, labelled.row, labelled.values)
        if self.samples:
            counted = matching_sets(labelled.label_sets, self.samples)[labelled.label_set]
            labelled = labelled._replace(
                row=labelled.row[counted],
                label_set=labelled.label_set[counted],
                values=labelled.values[counted],
            )
        numbers: dict[str | None, int] = {None: 0}
        of_set = np.array(
            [
                numbers.setdefault(
                    find_value(labels, self.name) if self.name else None, len(numbers)
                )
                for labels in labelled.label_sets
            ],
            np.int64,
        )
        width = len(numbers)
        pairs = labelled.row * width + of_set[labelled.label_set]
        distinct, index = np.unique(np.concatenate([rows * width, pairs]), return_inverse=True)
        sums = np.zeros(len(distinct), np.int64)
        np.add.at(sums, index, np.concatenate([totals[rows], labelled.values]))
        return LabelTotals(tuple(numbers), distinct // width, distinct % width, sums)


def _select_values(
    labelled: LabelledValues | LabelledSelf | None, metric: int, ends: Nodes | None
) -> _Labelled | None:
    """Return the labelled values of one metric, 0 at nodes that `ends` does not mark."""
    if labelled is None:
        return None
    values = labelled.values[metric]
    if ends is not None:
        values = np.where(ends[labelled.node], values, 0)
    row = np.zeros(len(values), np.int64)
    if isinstance(labelled, LabelledValues):
        row = labelled.row.astype(np.int64)
    return _Labelled(labelled.label_sets, row, labelled.label_set, values)


def _build_frames(
    strings: Sequence[str], name: NDArray[np.int32], file: NDArray[np.int32]
) -> Frames:
    """Return frames of which only names and files are known."""
    none = np.zeros(len(name), np.int32)
    return Frames(strings, none.astype(np.uint64), name, file, none, none)


def _bare_tree(
    metric: Metric, frames: Frames, parent: NDArray[np.int32], frame: NDArray[np.int32]
) -> Tree:
    """Return a tree without ids and values, for filters."""
    own = np.zeros((1, len(parent)), np.int64)
    return Tree((metric,), frames, np.zeros(len(parent), np.uint64), parent, frame, own)
