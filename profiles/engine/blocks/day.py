"""Day blocks: values of hour blocks summed over the profiles of a deployment and label set."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block, Sums
from profiles.engine.blocks.row_variance import GroupVariance
from profiles.engine.blocks.sections.container import Source
from profiles.engine.blocks.sections.decoded_columns import Arrays, ColumnStore
from profiles.engine.blocks.sections.packed_columns import PackedColumnReader
from profiles.engine.blocks.sections.variance import read_variance
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.errors import BadBlock, BadProfile

KIND = b"d"
ALL_LABELS = -1  # label set of groups that span all label sets


@dataclass(frozen=True, slots=True)
class Groups:
    """G groups of profiles: the rows of a day block's sparse values."""

    deployment: NDArray[np.int64]  # [G]
    label_set: NDArray[np.int32]  # [G], index of `profiles.label_sets`, or ALL_LABELS
    of_profile: NDArray[np.int32]  # [P], the group of each profile


class DayBlock(Block):
    """Block whose rows are groups of profiles; `profiles` has the totals of each single profile."""

    def __init__(
        self,
        data: bytes | memoryview | Source,
        profile_type: str = "",
        store: ColumnStore | None = None,
    ) -> None:
        super().__init__(data, KIND, profile_type, store)
        head = self._container.head
        try:
            self.by_labels = bool(head["by_labels"])  # False: groups span all label sets
            self.has_variance = bool(head["moments"])
            self._passing = {int(k) for k in head["passing"]}
        except (KeyError, TypeError, ValueError) as error:
            raise BadBlock(f"Damaged block, section directory: {error}.") from error

    @cached_property
    def groups(self) -> Groups:
        """Return the groups of profiles."""
        sets = len(self.profiles.label_sets)

        def decode(columns: PackedColumnReader) -> Arrays:
            deployment = columns.values(self.rows)
            label_set = columns.index(sets + 1, self.rows) - np.int32(1)
            return deployment, label_set, columns.index(self.rows, self.count)

        return Groups(*self._container.read("groups", decode).arrays)

    def sums(
        self,
        metrics: Sequence[int],
        rows: Rows | None,
        by_function: bool,
        check: Check = never_cancel,
    ) -> Sums:
        """Sum like Block.sums; raise `BadProfile` for metrics whose sums exceed 64 bits."""
        self._require_sums(metrics)
        return super().sums(metrics, rows, by_function, check)

    def row_totals(
        self,
        metric: int,
        rows: Rows | None,
        ends: Rows | None = None,
        check: Check = never_cancel,
    ) -> NDArray[np.int64]:
        """Return totals like Block.row_totals; raise `BadProfile` like `sums`."""
        self._require_sums([metric])
        return super().row_totals(metric, rows, ends, check)

    def _require_sums(self, metrics: Sequence[int]) -> None:
        if any(self._passing.intersection(self.columns.stored[k]) for k in metrics):
            raise BadProfile("The sum of the values of a day exceeds 64 bits.")

    def variance(self, metric: int, rows: Rows | None) -> GroupVariance:
        """Sum the squares and counts of the groups in `rows` (None: all) into one group.

        Raise `ValueError` if the block has none, see `has_variance`.
        """
        if not self.has_variance:
            raise ValueError("Too many groups and nodes for the variances of one block.")
        marks = np.ones(self.rows, bool) if rows is None else rows
        first, *others = (self._read_stored_variance(k, marks) for k in self.columns.stored[metric])
        for other in others:  # columns of one metric are of different profiles
            first = GroupVariance(
                first.square + other.square,
                first.present + other.present,
                first.functions + other.functions,
            )
        return first

    def _read_stored_variance(self, stored: int, marks: Rows) -> GroupVariance:
        functions = len(self.functions.id)
        every = read_variance(self._container, stored, self.tree, functions, self.rows)
        return GroupVariance(
            every.square[marks].sum(axis=0, keepdims=True),
            every.present[marks].sum(axis=0, keepdims=True),
            every.functions[marks].sum(axis=0, keepdims=True),
        )


def open_day(
    data: bytes | memoryview | Source, profile_type: str = "", store: ColumnStore | None = None
) -> DayBlock:
    """Open a day block from bytes, or from a function (offset, length) -> bytes that reads them.

    Raise `BadBlock` if the bytes are not a day block: now, or when a damaged section is first read.
    If `profile_type` is given, metrics get their canonical names, as queries use them. `store` has
    the decoded columns of this block, or gets them.
    """
    return DayBlock(data, profile_type, store)
