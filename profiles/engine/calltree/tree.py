"""Call trees as arrays: nodes keyed by (parent, frame), with self values for each metric."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.metrics import Metric
from profiles.engine.string_table import StringTable


@dataclass(frozen=True, slots=True)
class Frames:
    """F distinct frames; `name`, `file` and `mapping` are indexes of `strings`.

    `id` is a 64-bit hash of (function name, file, line): the same frame has the same id in every
    profile of every agent. A frame without symbols has the function `binary+0x…`, whose file has
    the build id of the binary, see profiles.engine.pprof.binaries.
    """

    strings: Sequence[str]
    id: NDArray[np.uint64]  # [F]
    name: NDArray[np.int32]  # [F]
    file: NDArray[np.int32]  # [F]
    line: NDArray[np.int32]  # [F], 0 if unknown
    mapping: NDArray[np.int32]  # [F], build id and path of the binary
    # [F], True for values of the label that splits the tree; None: all frames are of functions
    is_label: NDArray[np.bool_] | None = None
    # [F], line on which the frame's function begins, 0 if unknown; None: all are unknown
    start_line: NDArray[np.int32] | None = None

    def select_strings(self, indexes: NDArray[np.integer[Any]]) -> Iterator[str]:
        """Return the strings with these indexes."""
        if isinstance(self.strings, StringTable):
            return self.strings.select(indexes)
        return map(self.strings.__getitem__, indexes.tolist())

    def get_start_lines(self) -> NDArray[np.int32]:
        """Return the start line of each frame's function, [F], 0 if unknown."""
        if self.start_line is None:
            return np.zeros(len(self.id), np.int32)
        return self.start_line


class Label(NamedTuple):
    """Label of a sample: text (unit None), or a number with a unit ("" if it is not given)."""

    key: str
    value: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class LabelledSelf:
    """Self values of samples with labels, by (node, label set): L rows."""

    label_sets: tuple[tuple[Label, ...], ...]  # each sorted
    node: NDArray[np.int32]  # [L]
    label_set: NDArray[np.int32]  # [L]
    values: NDArray[np.int64]  # [K, L]


@dataclass(frozen=True, slots=True)
class Tree:
    """Call tree of N nodes and K metrics; parents come before children, and roots have parent -1.

    `id` is a hash of (parent's id, frame's id), so equal stacks have equal ids in all trees. `self`
    includes the values in `labelled`; samples without labels are in `self` only.
    """

    metrics: tuple[Metric, ...]  # [K]
    frames: Frames
    id: NDArray[np.uint64]  # [N]
    parent: NDArray[np.int32]  # [N]
    frame: NDArray[np.int32]  # [N]
    self: NDArray[np.int64]  # [K, N]
    labelled: LabelledSelf | None = None
