"""Builder of a block's dictionary, from the call trees of profiles and of other blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.sections.dictionary import (
    BlockFunctions,
    Dictionary,
    FunctionTree,
    LineTree,
)
from profiles.engine.blocks.sparse_rows import sort_by_group
from profiles.engine.calltree.forest import Forest, number_by_first_use, preorder_nodes
from profiles.engine.calltree.tree import LabelledSelf
from profiles.engine.encoding.codec import (
    Numbers,
    damage_error,
    read_mappings,
    read_numbers,
    read_strings,
)
from profiles.engine.encoding.compression import DAMAGE
from profiles.engine.encoding.json_header import read_metrics
from profiles.engine.encoding.merging import LineMerger
from profiles.engine.encoding.stored_tree import read_labelled
from profiles.engine.hashing import frame_ids
from profiles.engine.metrics import Metric
from profiles.engine.string_table import StringTable

MAX_NODES = 16_000_000
LIMIT = "max_nodes"  # name of the limit in TooLarge

_NO_NODES = np.zeros(0, np.int32)
_NO_VALUES = np.zeros((0, 0), np.int64)
_NO_STARTS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Nodes:
    """Line tree of a block with its symbols: P functions, F frames, N nodes."""

    strings: StringTable
    function_id: NDArray[np.uint64]  # [P]
    name: NDArray[np.int32]  # [P], index strings
    file: NDArray[np.int32]  # [P]
    function: NDArray[np.int32]  # [F]
    line: NDArray[np.int32]  # [F]
    mapping: NDArray[np.int32]  # [F], index strings
    start_line: NDArray[np.int32]  # [F]
    parent: NDArray[np.int32]  # [N]
    frame: NDArray[np.int32]  # [N]


class StoredLabels(NamedTuple):
    """Sample labels of a stored tree."""

    sparse_values: LabelledSelf
    metrics: Sequence[Metric]  # metrics of the values
    builder_node: NDArray[np.int32]  # position in the builder of each node of the tree


class Builder:
    """Accumulates nodes, each distinct node once.

    Frames with different mappings, or start lines of their function, are different.

    The node positions that the methods return are valid until `finish`, which renumbers them.
    """

    def __init__(self, max_nodes: int = MAX_NODES) -> None:
        self._max_nodes = max_nodes
        self._trees = LineMerger(max_nodes, LIMIT)

    def add(self, nodes: Nodes) -> NDArray[np.int32]:
        """Add the nodes of a block; return their positions in this builder, int32 [N]."""
        strings = self._trees.strings
        table = nodes.strings.data, nodes.strings.ends
        rows = self._trees.add_block(
            nodes.function_id,
            strings.insert(*table, nodes.name),
            strings.insert(*table, nodes.file),
            nodes.function,
            nodes.line,
            strings.insert(*table, nodes.mapping),
            nodes.start_line,
        )
        return self._trees.forest.add(
            nodes.parent, nodes.frame, rows, _NO_NODES, _NO_VALUES, _NO_NODES
        )

    def start(self, metrics: int) -> None:
        """Discard all values, and collect those of this many metrics from `add_stored`."""
        self._trees.clear(metrics)

    def add_stored(
        self, data: bytes, block_metrics: Sequence[Metric]
    ) -> tuple[int, StoredLabels | None]:
        """Add a tree encoded by codec.encode; return its number of values and its sample labels.

        Raise `BadTree` if the bytes are not a stored tree or have a metric that is not in
        `block_metrics`. After that the builder holds part of the tree, so no block can be built
        from it.
        """
        numbers = read_numbers(data)
        mappings = read_mappings(data, numbers)
        try:
            return self._add_tree(data, numbers, mappings, block_metrics)
        except DAMAGE as error:
            raise damage_error(error) from error

    def _add_tree(
        self,
        data: bytes,
        numbers: Numbers,
        mappings: list[list[int]],
        block_metrics: Sequence[Metric],
    ) -> tuple[int, StoredLabels | None]:
        head, trees = numbers.head, self._trees
        metrics = read_metrics(head["metrics"])
        if not set(metrics) <= set(block_metrics):
            raise ValueError("the totals of the profile lack one of its metrics")
        values = [
            (k, int(factor), block_metrics.index(metric))
            for k, (metric, factor) in enumerate(zip(metrics, head["factors"], strict=True))
        ]
        if trees.read(numbers.data, numbers.offset, head["columns"], len(metrics), mappings):
            texts = read_strings(data, numbers)
            trees.name(texts.data, texts.ends)
        count = trees.add(values)
        if not head["labels"]:
            return count, None
        builder_node = trees.forest_nodes()
        labelled = read_labelled(numbers.data, numbers.head, numbers.offset, len(metrics))
        return count, StoredLabels(labelled, metrics, builder_node) if labelled else None

    def sparse_values(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the values of all stored trees: (node int32 [C], values int64 [K, C])."""
        return self._trees.sparse_values()

    def finish(self) -> tuple[Dictionary, NDArray[np.int32]]:
        """Return the dictionary, and the line node that each position returned by `add` became."""
        _, parent, frame, _ = self._trees.forest.nodes.table()
        ids, names, frames = self._trees.table()
        tree, node = self._function_tree(parent, frame, frames[0], ids)
        # Sorted by function node, and stable within one: every parent stays before its children.
        first_line, line_node = sort_by_group(node, len(tree.parent))
        order = np.empty(len(line_node), np.int64)
        order[line_node] = np.arange(len(line_node))
        used, function = _order_by_first_use(tree.function, len(ids))
        tree = FunctionTree(tree.parent, function, first_line)
        frames[0] = _inverse(used, len(ids))[frames[0]]
        by_function = np.lexsort(frames[::-1])
        columns = frames[:, by_function]
        strings, (name, file, mapping) = self._select_strings(*names[:, used], columns[2])
        functions = BlockFunctions(ids[used], name, file)
        above = np.where(parent >= 0, line_node[parent], -1)[order].astype(np.int32)
        node_frame = _inverse(by_function)[frame[order]]
        lines = LineTree(above, node_frame, columns[0], columns[1], mapping, columns[3])
        return Dictionary(strings, functions, tree, lines), line_node

    def _function_tree(
        self,
        parent: NDArray[np.int32],
        frame: NDArray[np.int32],
        of_frame: NDArray[np.int32],
        ids: NDArray[np.uint64],
    ) -> tuple[FunctionTree, NDArray[np.int32]]:
        """Return the function tree in pre-order, without lines, and the node of each line node."""
        grouped = Forest(0, self._max_nodes, LIMIT)
        grouped.add_frames(frame_ids(ids, np.zeros(len(ids), np.int32)))
        node = grouped.add(parent, frame, of_frame, _NO_NODES, _NO_VALUES, _NO_NODES)
        _, above, function, _ = grouped.nodes.table()
        order = preorder_nodes(above, np.arange(len(above)))
        position = _inverse(order)
        ordered = np.where(above >= 0, position[above], -1)[order].astype(np.int32)
        return FunctionTree(ordered, function[order], _NO_STARTS), position[node]

    def _select_strings(
        self, *columns: NDArray[np.int32]
    ) -> tuple[StringTable, list[NDArray[np.int32]]]:
        """Return the strings in use, in order of first use, and the renumbered columns."""
        index = np.concatenate(columns)
        used, index = _order_by_first_use(index, int(index.max(initial=-1)) + 1)
        cuts = np.cumsum([len(column) for column in columns])[:-1]
        return StringTable(*self._trees.strings.take(used)), np.split(index, cuts)


def _order_by_first_use(
    index: NDArray[np.int32], below: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct values in order of first use, and each value's index among these."""
    first, number = number_by_first_use(index, below)
    return index[first].astype(np.int64), number


def _inverse(order: NDArray[np.int64], size: int | None = None) -> NDArray[np.int32]:
    """Return the position of each number in `order`; 0 for numbers that are not in it."""
    position = np.zeros(len(order) if size is None else size, np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    return position
