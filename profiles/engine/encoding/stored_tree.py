"""Stored form of a call tree: a numbers and a texts section; see docs/reference/formats.md.

Merging reads the texts only if a tree has functions that are not in the merged tree yet. Columns
are little-endian, in the narrowest sufficient width. Every index is checked when it is read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.tree import Frames, LabelledSelf, Tree
from profiles.engine.encoding.column_bytes import ANY, Column, ColumnReader, join, read_head
from profiles.engine.encoding.columns import (
    decode_parents,
    decode_steps,
    greatest_common_divisor,
    number_pairs,
)
from profiles.engine.encoding.compression import Unpacked
from profiles.engine.encoding.json_header import read_label_sets, read_metrics
from profiles.engine.hashing import frame_ids, function_ids, node_ids, string_ids
from profiles.engine.metrics import Metric
from profiles.engine.string_table import StringTable

_NONE = np.zeros(0, np.int64)
_OF_TREE = 9  # number of columns before the values
_OF_FRAMES = 6  # number of columns of functions and frames before those of the nodes
_PARENT = 6  # index of the column with the parents of nodes


class StoredFrames(NamedTuple):
    """F frames of P distinct functions, in the order in which the columns are stored."""

    function_id: NDArray[np.uint64]  # [P]
    function_name: NDArray[np.int32]  # [P], index of the tree's strings
    function_file: NDArray[np.int32]  # [P], index of the tree's strings
    function: NDArray[np.int32]  # [F], function of each frame
    line: NDArray[np.int32]  # [F]
    mapping: NDArray[np.int32]  # [F], index of the tree's strings
    function_start_line: NDArray[np.int32]  # [P], 0 if unknown


@dataclass(frozen=True)
class StoredTree:
    """Columns of a stored tree; values exist only for nodes that have self values."""

    metrics: tuple[Metric, ...]  # [K]
    frames: StoredFrames
    parent: NDArray[np.int32]  # [N]
    frame: NDArray[np.int32]  # [N]
    node: NDArray[np.int32]  # [M], nodes with self values
    values: NDArray[np.int64]  # [K, M]
    labelled: LabelledSelf | None
    read_strings: Callable[[], StringTable]

    @cached_property
    def strings(self) -> StringTable:
        """Return the strings, which are decompressed on first use."""
        return self.read_strings()


def to_columns(tree: Tree) -> StoredTree:
    frames, texts = tree.frames, StringTable.from_strings(tree.frames.strings)
    function, name, file = number_pairs(frames.name, frames.file)
    node = np.flatnonzero(tree.self.any(axis=0)).astype(np.int32)
    return StoredTree(
        metrics=tree.metrics,
        frames=StoredFrames(
            function_ids(texts.ids(), name, file),
            name,
            file,
            function,
            frames.line,
            frames.mapping,
            _find_start_lines(frames, function, len(name)),
        ),
        parent=tree.parent,
        frame=tree.frame,
        node=node,
        values=tree.self.take(node, axis=1),
        labelled=tree.labelled,
        read_strings=lambda: texts,
    )


def to_tree(columns: StoredTree) -> Tree:
    frames = columns.frames
    ids = frame_ids(frames.function_id[frames.function], frames.line)
    own = np.zeros((len(columns.metrics), len(columns.parent)), np.int64)
    own[:, columns.node] = columns.values
    return Tree(
        metrics=columns.metrics,
        frames=Frames(
            strings=columns.strings,
            id=ids,
            name=frames.function_name[frames.function],
            file=frames.function_file[frames.function],
            line=frames.line,
            mapping=frames.mapping,
            start_line=_spread_start_lines(frames),
        ),
        id=node_ids(columns.parent, columns.frame, ids),
        parent=columns.parent,
        frame=columns.frame,
        self=own,
        labelled=columns.labelled,
    )


def write(columns: StoredTree) -> tuple[bytes, bytes]:
    """Encode the numbers section and the texts section."""
    labelled, texts = columns.labelled, columns.strings
    start_line = columns.frames.function_start_line
    scaled = [_scale(row) for row in columns.values]
    table: list[Column] = [
        *columns.frames[:_OF_FRAMES],
        np.arange(len(columns.parent), dtype=np.int32) - columns.parent,
        columns.frame,
        _steps(columns.node),
        *(row for row, _ in scaled),
        *_label_columns(labelled, len(scaled)),
        start_line if start_line.any() else _NONE,
    ]
    head = {
        "metrics": [[*metric] for metric in columns.metrics],
        "factors": [factor for _, factor in scaled],
        "labels": [[[*label] for label in s] for s in labelled.label_sets] if labelled else [],
        "strings": len(texts),
        "mappings": find_mappings(columns.frames.mapping, texts),
    }
    lengths = _steps(texts.ends)
    return join(head, table), join({}, [lengths, np.frombuffer(texts.data, np.uint8)])


def find_mappings(mapping: NDArray[np.int32], texts: StringTable) -> list[list[int]]:
    """Return [[string, text id], …] of the strings that are a mapping, in ascending order."""
    used = np.flatnonzero(np.bincount(mapping)).tolist()
    ids = string_ids([texts[string] for string in used]).tolist()
    return [[string, id_] for string, id_ in zip(used, ids, strict=True)]


def read_numbers_head(numbers: Unpacked) -> tuple[dict[str, Any], Unpacked, int]:
    """Return (header, section, offset of its columns)."""
    head, start = read_head(numbers)
    return head, numbers, start


def read(numbers: bytes, texts: Callable[[], bytes], labels: bool = True) -> StoredTree:
    """Read the columns. Raise `ValueError`, `KeyError` or `TypeError` if they are not a valid tree.

    `texts` returns the texts section and is called on first use. If `labels` is False, sample
    labels are skipped.
    """
    columns = ColumnReader(numbers)
    head = columns.head
    metrics = read_metrics(head["metrics"])
    strings = int(head["strings"])
    ids, name, file = columns.ids(), columns.index(strings), columns.index(strings)
    function, line, mapping = columns.index(len(ids)), columns.index(ANY), columns.index(strings)
    parent = columns.index(ANY)
    decode_parents(parent)
    frame, node = columns.index(len(function)), columns.index(ANY)
    decode_steps(node, len(parent))
    values = columns.values(len(node), head["factors"])
    if labels:
        labelled = _read_labelled_columns(columns, len(metrics), len(parent))
    else:
        labelled = None
        columns.skip(2 + len(metrics))
    start_line = _read_start_lines(columns, len(ids))
    columns.end()
    _same({len(ids), len(name), len(file)}, {len(function), len(line), len(mapping)})
    _same({len(parent), len(frame)}, {len(metrics), len(values)})
    return StoredTree(
        metrics=metrics,
        frames=StoredFrames(ids, name, file, function, line, mapping, start_line),
        parent=parent,
        frame=frame,
        node=node,
        values=values,
        labelled=labelled,
        read_strings=lambda: read_strings(texts(), strings),
    )


def read_labelled(
    numbers: Unpacked, head: dict[str, Any], start: int, metrics: int
) -> LabelledSelf | None:
    """Read only the sample labels, as `read` returns them.

    `head` and `start` are from `read_numbers_head`.
    """
    columns = ColumnReader(numbers, (head, start))
    columns.skip(_OF_TREE + metrics)
    return _read_labelled_columns(columns, metrics, _node_count(head))


def label_values(
    numbers: Unpacked, head: dict[str, Any], start: int, metric: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Read only (label set, value in one metric) of the values with labels, without their nodes."""
    columns = ColumnReader(numbers, (head, start))
    columns.skip(_OF_TREE + len(head["metrics"]) + 1)
    label_set = columns.index(len(head["labels"]))
    columns.skip(metric)
    return label_set, columns.values(len(label_set), [1])[0]


def _node_count(head: Mapping[str, Any]) -> int:
    """Return the number of nodes of the tree with this header of its numbers section."""
    _, count = head["columns"][_PARENT]
    return int(count)


def read_strings(section: bytes, count: int) -> StringTable:
    """Read the texts section, which must have `count` strings."""
    columns = ColumnReader(section)
    ends = np.cumsum(columns.index(ANY), dtype=np.int64)
    data = columns.data()
    columns.end()
    if len(ends) != count or (int(ends[-1]) if count else 0) != len(data):
        raise ValueError("number or lengths of strings do not match the data")
    return StringTable(data, ends)


def _label_columns(labelled: LabelledSelf | None, width: int) -> list[Column]:
    if labelled is None:
        return [_NONE] * (2 + width)
    return [labelled.node, labelled.label_set, *labelled.values]


def _read_labelled_columns(columns: ColumnReader, width: int, nodes: int) -> LabelledSelf | None:
    sets = columns.head["labels"]
    node = columns.index(nodes)
    label_set = columns.index(len(sets))
    values = columns.values(len(node), [1] * width)
    _same({len(node), len(label_set)})
    if not len(node):
        return None
    return LabelledSelf(read_label_sets(sets), node, label_set, values)


def _find_start_lines(
    frames: Frames, function: NDArray[np.int32], functions: int
) -> NDArray[np.int32]:
    """Return the start line of each function: the greatest, if versions of it were merged."""
    found = np.zeros(functions, np.int32)
    if frames.start_line is not None:
        np.maximum.at(found, function, frames.start_line)
    return found


def _spread_start_lines(frames: StoredFrames) -> NDArray[np.int32] | None:
    """Return the start line of each frame's function, None if all are unknown."""
    start_line = frames.function_start_line
    return start_line[frames.function] if start_line.any() else None


def _read_start_lines(columns: ColumnReader, functions: int) -> NDArray[np.int32]:
    """Read the last column, which trees before version 3 lack; it is empty if all are unknown."""
    found = columns.index(ANY) if columns.has_more else np.zeros(0, np.int32)
    if not len(found):
        return np.zeros(functions, np.int32)
    _same({len(found), functions})
    return found


def _same(*lengths: set[int]) -> None:
    if any(len(group) != 1 for group in lengths):
        raise ValueError("columns of a table differ in length")


def _steps(numbers: Column) -> Column:
    """Return the difference of each number to the one before it; the first stays."""
    steps = numbers.copy()
    steps[1:] -= numbers[:-1]
    return steps


def _scale(row: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return the values divided by their greatest common divisor, and the divisor.

    A CPU profile's values are multiples of its sampling period.
    """
    factor = greatest_common_divisor(row)
    return (row // factor, factor) if factor > 1 else (row, 1)
