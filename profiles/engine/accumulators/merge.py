"""Exact sum of any number of call trees.

Merging is associative and commutative except for the order of nodes, which has no meaning. It
raises `BadProfile` if a sum exceeds 64 bits, and `TooLarge` if the result has too many nodes.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.block import Block, UsedSums
from profiles.engine.blocks.day import DayBlock
from profiles.engine.blocks.hour import HourBlock
from profiles.engine.blocks.sections.sample_labels import LabelledValues
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.blocks.used_nodes import UsedNodes
from profiles.engine.calltree.forest import Forest, StringPool
from profiles.engine.calltree.tree import Frames, Label, LabelledSelf, Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.encoding.codec import Numbers, damage_error, decode, open_stored, read_numbers
from profiles.engine.encoding.compression import DAMAGE
from profiles.engine.encoding.json_header import read_metrics
from profiles.engine.encoding.merging import FunctionMerger
from profiles.engine.encoding.stored_tree import StoredTree
from profiles.engine.hashing import SumTable, frame_ids, function_ids, string_ids
from profiles.engine.metrics import Metric, canonical
from profiles.engine.string_table import StringTable

MAX_NODES = 16_000_000
LIMIT = "max_nodes"  # name of the limit in TooLarge


class AddedNodes(NamedTuple):
    """Nodes of a block that were added, and their positions in the merged tree."""

    used: UsedNodes
    frames: NDArray[np.int32]  # index in the merged tree of each frame of `used`
    forest_node: NDArray[np.int32]  # index in the merged tree of each node of `used`


class Merge:
    """Accumulator of call trees over `metrics`; other metrics of the inputs are ignored.

    If `by_function` is set, lines, mappings and sample labels are dropped. If a profile type is
    given, the metrics of stored trees are matched by their canonical names, as queries use them.
    If `by_start_line` is set, the same line of a function that begins on another line, in another
    version of the program, is another frame; otherwise the greatest of its start lines counts.
    """

    def __init__(
        self,
        metrics: Sequence[Metric],
        by_function: bool = False,
        max_nodes: int = MAX_NODES,
        profile_type: str = "",
        check: Check = never_cancel,
        by_start_line: bool = False,
    ) -> None:
        self.metrics = tuple(metrics)
        self._by_start_line = by_start_line
        self._profile_type = profile_type
        self._check = check
        self.by_function = by_function
        self._keeps_labels = not by_function
        self._forest = Forest(len(self.metrics), max_nodes, LIMIT)
        self._packed = FunctionMerger(self._forest)
        self._texts = StringPool()
        # Arrays [3, frames]: name, file and line, in order of frame index; name and file are
        # indexes of self._texts.
        self._frames: list[NDArray[np.int32]] = [np.zeros((3, 0), np.int32)]
        self._start_lines = np.zeros(0, np.int32)  # by frame index; unknown beyond the end
        self._mappings: dict[int, str] = {}  # by frame index
        self._mapping_texts: dict[str, str] = {}  # those met so far, to themselves
        self._labelled = SumTable(len(self.metrics), max_nodes, LIMIT)
        self._label_sets: dict[tuple[Label, ...], int] = {}

    def add_tree(self, tree: Tree) -> None:
        self._add_tree(tree)

    def _add_tree(self, tree: Tree) -> NDArray[np.int32]:
        """Add a tree and return the index of each of its nodes in the merged tree."""
        self._check()
        ids = self._line_ids(tree.frames)
        if self.by_function:
            texts = StringTable.from_strings(tree.frames.strings).ids()
            functions = function_ids(texts, tree.frames.name, tree.frames.file)
            ids = frame_ids(functions, np.zeros(len(ids), np.int32))
        rows = self._enter_frames(ids, tree.frames)
        sampled = np.flatnonzero(tree.self.any(axis=0)).astype(np.int32)
        indexes, columns = self._columns(self._map_to_canonical(tree.metrics))
        forest_node = self._forest.add(
            tree.parent, tree.frame, rows, sampled, tree.self[indexes][:, sampled], columns
        )
        if not self.by_function:
            self._prefer_mappings(rows, tree.frames)
            self._prefer_start_lines(rows, tree.frames)
        if self._keeps_labels and tree.labelled:
            self._add_labelled(tree.labelled, forest_node, indexes, columns)
        return forest_node

    def add_encoded(self, data: bytes, numbers: Numbers | None = None) -> None:
        """Add a tree encoded by codec.encode; when merging by function, no Tree is built.

        `numbers` is the result of codec.unpack for it, if there is one. Raise `BadTree`, before
        anything is added, if the bytes are not a stored tree.
        """
        if self.by_function:
            self._add_packed(numbers or read_numbers(data), data)
        else:
            self.add_tree(decode(data))

    def _add_packed(self, numbers: Numbers, data: bytes) -> bool:
        """Add a stored tree by function; return True if the merged tree got new nodes."""
        self._check()
        try:
            columns, metrics = numbers.head["columns"], numbers.head["metrics"]
            factors = numbers.head["factors"]
            if len(factors) != len(metrics):
                raise ValueError("numbers of factors and metrics differ")
            unknown = self._packed.read(numbers.data, numbers.offset, columns, len(metrics))
            if unknown:
                self._enter_unknown(open_stored(data, labels=False), unknown)
                self._packed.read(numbers.data, numbers.offset, columns, len(metrics))
            indexes, targets = self._columns(self._map_to_canonical(read_metrics(metrics)))
            values = [
                (k, int(factors[k]), target)
                for k, target in zip(indexes, targets.tolist(), strict=True)
            ]
        except DAMAGE as error:
            raise damage_error(error) from error
        return self._packed.add(values)

    def _enter_unknown(self, stored: StoredTree, functions: list[int]) -> None:
        """Add these functions of the tree, by index, with their names."""
        strings = stored.strings
        frames = stored.frames
        ids = frames.function_id[functions]
        _, new = self._forest.add_frames(frame_ids(ids, np.zeros(len(ids), np.int32)))
        here = np.array(functions)[new]
        self._append_names(strings, frames.function_name[here], frames.function_file[here])

    def add_hour(self, block: HourBlock, profiles: Rows | None = None) -> None:
        """Add the marked profiles of an hour block (None: all profiles).

        Raise `BadBlock` if a section that is needed cannot be read; nothing was added in that case.
        """
        self._add_block(block, profiles)

    def add_day(self, block: DayBlock, groups: Rows | None = None) -> None:
        """Add the marked groups of a day block (None: all groups). Raise like `add_hour`."""
        self._add_block(block, groups)

    def _add_block(self, block: Block, rows: Rows | None) -> AddedNodes:
        indexes, columns = self._columns(block.metrics)
        sums = block.get_used_sums(indexes, rows, self.by_function, self._check)
        labelled = block.select_labelled(rows) if self._keeps_labels else None
        added = self._add_sums(block, sums)
        if labelled:
            nodes = block.tree.parent if self.by_function else block.node_of_line
            here = np.full(len(nodes), -1, np.int32)
            here[added.used.node] = added.forest_node
            of_line = here[block.node_of_line] if self.by_function else here
            self._add_labelled(labelled, of_line, indexes, columns)
        return added

    def _add_sums(self, block: Block, sums: UsedSums) -> AddedNodes:
        """Add the sums of a block's metrics that the merge has, too."""
        values, used = sums
        enter = self._enter_functions if self.by_function else self._enter_lines
        frames = enter(block, used.frames)
        _, columns = self._columns(block.metrics)
        every = np.arange(len(used.node), dtype=np.int32)
        forest_node = self._forest.add(used.parent, used.frame, frames, every, values, columns)
        return AddedNodes(used, frames, forest_node)

    def _enter_functions(self, block: Block, functions: NDArray[np.int64]) -> NDArray[np.int32]:
        """Add functions of a block; return their frame indexes.

        The block's strings are read only if one of the functions is new.
        """
        block_functions = block.functions
        ids = frame_ids(block_functions.id[functions], np.zeros(len(functions), np.int32))
        strings = None if self._forest.frames.has_all(ids) else block.strings
        rows, new = self._forest.add_frames(ids)
        if strings is not None:
            here = functions[new]
            self._append_names(strings, block_functions.name[here], block_functions.file[here])
        return rows

    def _enter_lines(self, block: Block, used: NDArray[np.int64]) -> NDArray[np.int32]:
        """Add frames of a block; return their indexes."""
        function, line = block.lines.function[used], block.lines.line[used]
        frames = Frames(
            strings=block.strings,
            id=frame_ids(block.functions.id[function], line),
            name=block.functions.name[function],
            file=block.functions.file[function],
            line=line,
            mapping=block.lines.mapping[used],
            start_line=block.lines.start_line[used],
        )
        rows = self._enter_frames(self._line_ids(frames), frames)
        self._prefer_mappings(rows, frames)
        self._prefer_start_lines(rows, frames)
        return rows

    def tree(self) -> Tree:
        """Return the sum of everything added so far."""
        self._check()
        ids, parent, frame, own = self._forest.nodes.table()
        return Tree(self.metrics, self._tree_frames(), ids, parent, frame, own, self._tree_labels())

    def _enter_frames(self, ids: NDArray[np.uint64], frames: Frames) -> NDArray[np.int32]:
        rows, new = self._forest.add_frames(ids)
        line = None if self.by_function else frames.line[new]
        self._append_names(
            StringTable.from_strings(frames.strings), frames.name[new], frames.file[new], line
        )
        return rows

    def _append_names(
        self,
        strings: StringTable,
        name: NDArray[np.int32],
        file: NDArray[np.int32],
        line: NDArray[np.int32] | None = None,
    ) -> None:
        """Store names, files and lines (None: 0) of the frames added last.

        `name` and `file` are indexes of `strings`.
        """
        columns = [self._texts.insert(strings.data, strings.ends, index) for index in (name, file)]
        columns.append(np.zeros(len(name), np.int32) if line is None else line)
        self._frames.append(np.stack(columns))

    def _map_to_canonical(self, stored: Sequence[Metric]) -> tuple[Metric, ...]:
        return canonical(self._profile_type, tuple(stored))

    def _columns(self, metrics: Sequence[Metric]) -> tuple[list[int], NDArray[np.int32]]:
        """Return the indexes of the metrics to use, and the column in the merged tree of each."""
        indexes = [k for k, metric in enumerate(metrics) if metric in self.metrics]
        columns = [self.metrics.index(metrics[k]) for k in indexes]
        return indexes, np.array(columns, np.int32)

    def _prefer_mappings(self, rows: NDArray[np.int32], frames: Frames) -> None:
        # Few strings for many frames, and equal ones are one object: comparing them is fast.
        texts = {
            mapping: self._mapping_texts.setdefault(text, text)
            for mapping in np.unique(frames.mapping).tolist()
            for text in (frames.strings[mapping],)
        }
        for row, mapping in zip(rows.tolist(), frames.mapping.tolist(), strict=True):
            other, now = texts[mapping], self._mappings.get(row, "")
            if other != now:
                self._mappings[row] = max(now, other, key=_rank) if now else other

    def _line_ids(self, frames: Frames) -> NDArray[np.uint64]:
        """Return the ids by which frames are distinct; those of the frames, by default."""
        start_line = frames.start_line
        if not self._by_start_line or start_line is None:
            return frames.id
        return np.where(start_line > 0, frame_ids(frames.id, start_line), frames.id)

    def _prefer_start_lines(self, rows: NDArray[np.int32], frames: Frames) -> None:
        """Store the greatest start line of each frame, independent of the order."""
        if frames.start_line is None or not frames.start_line.any():
            return
        count = self._forest.frames.count
        if count > len(self._start_lines):
            grown = np.zeros(2 * count, np.int32)
            grown[: len(self._start_lines)] = self._start_lines
            self._start_lines = grown
        np.maximum.at(self._start_lines, rows, frames.start_line)

    def _add_labelled(
        self,
        labelled: LabelledSelf | LabelledValues,
        forest_node: NDArray[np.int32],
        indexes: list[int],
        columns: NDArray[np.int32],
    ) -> None:
        sets = np.array(
            [self._label_sets.setdefault(s, len(self._label_sets)) for s in labelled.label_sets],
            np.uint64,
        )
        nodes = forest_node[labelled.node].astype(np.uint64)
        keys = nodes << np.uint64(32) | sets[labelled.label_set]
        self._labelled.add_rows(keys, labelled.values[indexes], columns)

    def _tree_frames(self) -> Frames:
        ids = self._forest.frames.table()
        name, file, line = np.concatenate(self._frames, axis=1)
        mappings = StringTable.from_strings([*self._mappings.values(), ""])
        used = self._texts.insert(
            mappings.data, mappings.ends, np.arange(len(mappings), dtype=np.int32)
        )
        mapping = np.full(len(ids), used[-1], np.int32)
        mapping[list(self._mappings)] = used[:-1]
        start_line = np.zeros(len(ids), np.int32)
        stored = self._start_lines[: len(ids)]
        start_line[: len(stored)] = stored
        return Frames(
            StringTable(*self._texts.table()),
            ids,
            name,
            file,
            line,
            mapping,
            start_line=start_line if len(stored) else None,
        )

    def _tree_labels(self) -> LabelledSelf | None:
        keys, values = self._labelled.table()
        if not len(keys):
            return None
        node = (keys >> np.uint64(32)).astype(np.int32)
        label_set = (keys & np.uint64(2**32 - 1)).astype(np.int32)
        return LabelledSelf(tuple(self._label_sets), node, label_set, values)


def merge(trees: Iterable[Tree]) -> Tree:
    """Merge trees over the union of their metrics, sorted by name."""
    trees = list(trees)
    merging = Merge(sorted({metric for tree in trees for metric in tree.metrics}))
    for tree in trees:
        merging.add_tree(tree)
    return merging.tree()


def _rank(mapping: str) -> tuple[bool, int]:
    """Rank the mappings of one frame: the highest rank is used, as in decoding."""
    return mapping != "", int(string_ids([mapping])[0])
