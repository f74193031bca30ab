"""Section of sample labels: values by (row, line node, label set)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.sections.container import Container
from profiles.engine.blocks.sections.decoded_columns import Arrays
from profiles.engine.blocks.sections.packed_columns import PackedColumnReader, pack
from profiles.engine.calltree.tree import Label
from profiles.engine.encoding.json_header import read_label_sets

Labels = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class LabelledValues:
    """X values, sorted by row, node and label set."""

    label_sets: tuple[Labels, ...]
    row: NDArray[np.int32]  # [X], profile or group
    node: NDArray[np.int32]  # [X], line node
    label_set: NDArray[np.int32]  # [X]
    values: NDArray[np.int64]  # [K, X]

    def select_rows(self, rows: NDArray[np.bool_] | None) -> "LabelledValues":
        """Return the values of the marked rows (None: of all rows)."""
        if rows is None:
            return self
        return self._take(np.flatnonzero(rows[self.row]))

    def renumber(self, row: NDArray[np.int64], node: NDArray[np.int32]) -> "LabelledValues":
        """Replace row i by row[i] and node i by node[i], and sort again."""
        moved = replace(self, row=row[self.row].astype(np.int32), node=node[self.node])
        return moved._take(np.lexsort((moved.label_set, moved.node, moved.row)))

    def with_values(self, values: NDArray[np.int64]) -> "LabelledValues":
        """Return the same rows and nodes with values of other metrics."""
        return replace(self, values=values)

    def sum_equal(self, left_out: Collection[int] = ()) -> "LabelledValues":
        """Sort, and sum the values of equal (row, node, label set).

        Metrics in `left_out` become zero. The sums of the other metrics must fit into 64 bits.
        """
        order = np.lexsort((self.label_set, self.node, self.row))
        keys = np.stack([self.row, self.node, self.label_set])[:, order]
        if not len(order):
            return self
        starts = np.flatnonzero(np.concatenate([[True], (np.diff(keys) != 0).any(axis=0)]))
        values = np.add.reduceat(self.values[:, order], starts, axis=1)
        values[list(left_out)] = 0
        row, node, label_set = keys[:, starts]
        return LabelledValues(self.label_sets, row, node, label_set, values)

    def _take(self, indexes: NDArray[np.int64]) -> "LabelledValues":
        return replace(
            self,
            row=self.row[indexes],
            node=self.node[indexes],
            label_set=self.label_set[indexes],
            values=self.values[:, indexes],
        )


def join_labelled_values(parts: Sequence[LabelledValues], metrics: int) -> LabelledValues:
    """Concatenate values; the label sets in use are renumbered."""
    label_sets: dict[Labels, int] = {}
    index = [np.zeros(0, np.int32)]
    for part in parts:
        used, inverse = np.unique(part.label_set, return_inverse=True)
        numbers = [
            label_sets.setdefault(part.label_sets[i], len(label_sets)) for i in used.tolist()
        ]
        index.append(np.array(numbers, np.int32)[inverse])
    none = np.zeros(0, np.int32)
    return LabelledValues(
        label_sets=tuple(label_sets),
        row=np.concatenate([none, *(part.row for part in parts)]),
        node=np.concatenate([none, *(part.node for part in parts)]),
        label_set=np.concatenate(index),
        values=np.concatenate([np.zeros((metrics, 0), np.int64), *(p.values for p in parts)], 1),
    )


def write_labelled(sparse_values: LabelledValues) -> bytes:
    """Encode the section `labels`."""
    sets = [[[*label] for label in labels] for labels in sparse_values.label_sets]
    steps = np.diff(sparse_values.row, prepend=0)
    return pack(
        {"label_sets": sets},
        [steps, sparse_values.node, sparse_values.label_set, *sparse_values.values],
    )


def read_labelled(
    container: Container, rows: int, nodes: int, metrics: int
) -> LabelledValues | None:
    """Read the section, or return None if no sample of the block has labels."""
    if not container.has("labels"):
        return None

    def decode(columns: PackedColumnReader) -> Arrays:
        label_sets = read_label_sets(columns.head["label_sets"])
        row = np.cumsum(columns.index(rows), dtype=np.int64)
        if len(row) and int(row[-1]) >= rows:
            raise ValueError("row index out of range")
        node = columns.index(nodes, len(row))
        label_set = columns.index(len(label_sets), len(row))
        values = [columns.values(len(row)) for _ in range(metrics)]
        table = np.array(values, np.int64).reshape(metrics, len(row))
        return row.astype(np.int32), node, label_set, table

    columns = container.read("labels", decode)
    return LabelledValues(read_label_sets(columns.head["label_sets"]), *columns.arrays)
