"""Day blocks: what hour blocks hold, summed over the profiles of a deployment and label set."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block, Sums
from profiles.engine.blocks.row_variance import GroupVariance
from profiles.engine.blocks.sections.container import Source
from profiles.engine.blocks.sections.variance import read_variance
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.errors import BadBlock, BadProfile

KIND = b"d"
ALL_LABELS = -1


@dataclass(frozen=True, slots=True)
class Groups:
    """G groups of profiles, the rows of a day block's cells."""

    deployment: NDArray[np.int64]  # [G]
    label_set: NDArray[np.int32]  # [G], of `profiles.label_sets`; ALL_LABELS where they differ
    of_profile: NDArray[np.int32]  # [P], the group of each profile


class DayBlock(Block):
    """The groups are the rows of its cells; `profiles` says what each profile came to in all."""

    def __init__(self, data: bytes | memoryview | Source, profile_type: str = "") -> None:
        super().__init__(data, KIND, profile_type)
        head = self._container.head
        try:
            self.by_labels = bool(head["by_labels"])  # else groups are deployments, of any labels
            self.has_moments = bool(head["moments"])
            self._passing = {int(k) for k in head["passing"]}
        except (KeyError, TypeError, ValueError) as error:
            raise BadBlock(f"The block is damaged, in its section directory: {error}.") from error

    @cached_property
    def groups(self) -> Groups:
        sets = len(self.profiles.label_sets)
        with self._container.section("groups") as columns:
            deployment = columns.values(self.rows)
            label_set = columns.index(sets + 1, self.rows) - np.int32(1)
            of_profile = columns.index(self.rows, self.count)
        return Groups(deployment, label_set, of_profile)

    def sums(self, metrics: Sequence[int], rows: Rows | None, by_function: bool) -> Sums:
        if any(self._passing.intersection(self.columns.stored[k]) for k in metrics):
            raise BadProfile("The values of a day add up to more than 64 bits hold.")
        return super().sums(metrics, rows, by_function)

    def moments(self, metric: int, rows: Rows | None) -> GroupVariance:
        """Of the groups in `rows` (None: all), as one; ValueError without `has_moments`."""
        if not self.has_moments:
            raise ValueError("This block has too many groups and nodes to hold moments.")
        marks = np.ones(self.rows, bool) if rows is None else rows
        first, *others = (self._moments(k, marks) for k in self.columns.stored[metric])
        for other in others:  # of other profiles
            first = GroupVariance(
                first.square + other.square,
                first.present + other.present,
                first.functions + other.functions,
            )
        return first

    def _moments(self, stored: int, marks: Rows) -> GroupVariance:
        with self._container.section(f"moments.{stored}") as columns:
            every = read_variance(columns, self.tree, len(self.functions.id), self.rows)
        return GroupVariance(
            every.square[marks].sum(axis=0, keepdims=True),
            every.present[marks].sum(axis=0, keepdims=True),
            every.functions[marks].sum(axis=0, keepdims=True),
        )


def open_day(data: bytes | memoryview | Source, profile_type: str = "") -> DayBlock:
    """The block in these bytes, or behind a function (offset, length) -> bytes that reads them.

    BadBlock, here or when a part is first used, if the bytes are not such a block. With the type
    of its profiles, its metrics go by the names of queries.
    """
    return DayBlock(data, profile_type)
