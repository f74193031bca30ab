"""Split of a call tree by the values of a label, like `-tagroot` of pprof.

A merge first keeps the values of each value of the label apart (`SplitMerge`); its tree has the
nodes of the unsplit tree, so that filters apply to whole stacks. `split` then gives each value of
the label a root of its own.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.accumulators.merge import LIMIT, MAX_NODES, AddedNodes, Merge
from profiles.engine.blocks.block import Block, UsedSums
from profiles.engine.blocks.sections.sample_labels import LabelledValues
from profiles.engine.blocks.used_nodes import select_used_nodes
from profiles.engine.calltree.samples import (
    SampleLabels,
    matches_unlabelled,
    matching_sets,
    select_rows,
    sum_labelled,
)
from profiles.engine.calltree.tree import Frames, Label, LabelledSelf, Tree
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.encoding.codec import Numbers, decode, read_numbers, reading
from profiles.engine.encoding.json_header import read_metrics
from profiles.engine.encoding.stored_tree import read_labelled
from profiles.engine.errors import TooLarge
from profiles.engine.hashing import frame_ids, function_ids, node_ids
from profiles.engine.metrics import Metric
from profiles.engine.string_table import StringTable

MAX_VALUES = 50  # heaviest values of the label with a root of their own
NOT_SET = "(not set)"  # values of samples or profiles without the label
OTHER = "(other values)"  # sum of all values beyond the heaviest
_EXCLUDED = (Label("", ""),)  # label set that no profile has


class SplitMerge(Merge):
    """Accumulator of call trees that keeps the values of each value of a label apart.

    `name` is the label: of samples, or of whole profiles if `of_profiles` is set; then the caller
    sets `value` before it adds profiles. With `samples`, only samples with all these labels count.
    The tree's `labelled` has no other label.
    """

    def __init__(
        self,
        metrics: Sequence[Metric],
        by_function: bool,
        name: str,
        *,
        of_profiles: bool = False,
        samples: SampleLabels = (),
        max_nodes: int = MAX_NODES,
        profile_type: str = "",
        check: Check = never_cancel,
    ) -> None:
        super().__init__(metrics, by_function, max_nodes, profile_type, check)
        self.value = ""  # of the profiles that are added next; "": without the label
        self._label_name = name
        self._of_profiles = of_profiles
        self._samples = samples
        self._keeps_labels = bool(samples) or not of_profiles
        counts_unlabelled = matches_unlabelled(samples)
        self._adds_whole = of_profiles and counts_unlabelled
        # Number of the label set for values of samples that do not count; None: they are not kept.
        self._excluded: int | None = None
        if samples and counts_unlabelled and not of_profiles:
            self._excluded = self._label_sets[_EXCLUDED] = len(self._label_sets)

    def add_encoded(self, data: bytes, numbers: Numbers | None = None) -> None:
        """Add a stored tree. Raise `BadTree`, before anything is added, if it is damaged."""
        if not self.by_function or len(self.metrics) > 1:
            self.add_tree(decode(data))
            return
        numbers = numbers or read_numbers(data)
        head = numbers.head
        with reading():
            stored = read_metrics(head["metrics"])
            labelled = None
            if self._keeps_labels and head["labels"]:
                labelled = read_labelled(numbers.data, head, numbers.offset, len(stored))
        indexes, columns = self._columns(self._map_to_canonical(stored))
        self._add_packed(numbers, data)
        if labelled:
            self._add_labelled(labelled, self._packed.forest_nodes(), indexes, columns)
        if indexes and self._adds_whole:
            node, value = self._packed.sparse_values()
            self._add_whole(node, value[np.newaxis], columns)

    def tree(self) -> Tree:
        """Return the sum of everything added so far, with the values of the label in `labelled`."""
        tree = super().tree()
        return self._select_samples(tree) if self._samples else tree

    def _select_samples(self, tree: Tree) -> Tree:
        """Keep the values of the samples that count, and the nodes that lead to them."""
        selected: NDArray[np.bool_] = np.zeros(0, bool)
        labelled, excluded = tree.labelled, self._excluded
        if labelled is not None:
            selected = np.asarray(labelled.values.any(axis=0))
            if excluded is not None:
                selected &= labelled.label_set != excluded
        # Only with `_excluded` do values without a row belong to samples that count.
        return select_rows(tree, selected, excluded is not None, self._check)

    def _add_tree(self, tree: Tree) -> NDArray[np.int32]:
        forest_node = super()._add_tree(tree)
        if self._adds_whole:
            indexes, columns = self._columns(self._map_to_canonical(tree.metrics))
            self._add_whole(forest_node, tree.self[indexes], columns)
        return forest_node

    def _add_sums(self, block: Block, sums: UsedSums) -> AddedNodes:
        added = super()._add_sums(block, sums)
        if self._adds_whole:
            _, columns = self._columns(block.metrics)
            self._add_whole(added.forest_node, sums.values, columns)
        return added

    def _add_labelled(
        self,
        labelled: LabelledSelf | LabelledValues,
        forest_node: NDArray[np.int32],
        indexes: list[int],
        columns: NDArray[np.int32],
    ) -> None:
        number_of_set = np.array([self._get_number(each) for each in labelled.label_sets], np.int64)
        node, number = forest_node[labelled.node], number_of_set[labelled.label_set]
        values, counted = labelled.values[indexes], np.ones(len(node), bool)
        if self._samples:
            counted = matching_sets(labelled.label_sets, self._samples)[labelled.label_set]
            if self._adds_whole:
                values, counted = -values, ~counted  # leave out of the whole
            elif self._excluded is not None:
                number = np.where(counted, number, self._excluded)
                counted = np.ones_like(counted)
        rows = np.flatnonzero((node >= 0) & counted)
        self._add_rows(node[rows], number[rows], values[:, rows], columns)

    def _get_number(self, label_set: Sequence[Label]) -> int:
        if self._of_profiles:
            return self._number(self._label_of_profiles())
        return self._number(_find_label(label_set, self._label_name))

    def _label_of_profiles(self) -> Label | None:
        return Label(self._label_name, self.value) if self.value else None

    def _number(self, label: Label | None) -> int:
        return self._label_sets.setdefault((label,) if label else (), len(self._label_sets))

    def _add_whole(
        self, node: NDArray[np.int32], values: NDArray[np.int64], columns: NDArray[np.int32]
    ) -> None:
        """Add values [K, M] of profiles, all of whose samples have the current `value`."""
        rows = np.flatnonzero(values.any(axis=0))
        number = np.full(len(rows), self._number(self._label_of_profiles()), np.int64)
        self._add_rows(node[rows], number, values[:, rows], columns)

    def _add_rows(
        self,
        node: NDArray[np.int32],
        number: NDArray[np.int64],
        values: NDArray[np.int64],
        columns: NDArray[np.int32],
    ) -> None:
        keys = node.astype(np.uint64) << np.uint64(32) | number.astype(np.uint64)
        self._labelled.add_rows(keys, values, columns)


class _ValueRows(NamedTuple):
    """Values of the tree that get a root."""

    text: str  # value of the label, NOT_SET or OTHER
    label: Label | None  # None for NOT_SET and OTHER
    rows: NDArray[np.int64]  # of the tree's `labelled`; none for NOT_SET


def split(
    tree: Tree,
    name: str,
    max_values: int = MAX_VALUES,
    max_nodes: int = MAX_NODES,
    check: Check = never_cancel,
) -> Tree:
    """Give each value of the label `name` a root, `NAME: VALUE`, above the stacks of its samples.

    The totals of the roots add up to the total of the tree. The `max_values` values with the
    greatest totals in the first metric have a root each, the others one together; samples without
    the label have one, too. The frames of the roots are marked in `is_label`, and `labelled` has
    the label only. Raise `TooLarge` if the result has more than `max_nodes` nodes.
    """
    roots, rest = _Roots(tree, name, max_nodes), tree.self.copy()
    for part in _parts(tree.labelled, name, max_values):
        check()
        values = sum_labelled(tree, part.rows)
        rest -= values
        roots.add(part, values)
    roots.add(_ValueRows(NOT_SET, None, np.zeros(0, np.int64)), rest)
    check()
    return roots.tree()


def _parts(labelled: LabelledSelf | None, name: str, max_values: int) -> list[_ValueRows]:
    """Return the parts that have a value of the label, the greatest total first, then OTHER."""
    if labelled is None:
        return []
    labels = [_find_label(each, name) for each in labelled.label_sets]
    first: dict[str, Label] = {}
    for label in labels:
        if label:
            first.setdefault(label.value, label)
    number = {value: i for i, value in enumerate(first)}
    of_set = np.array([number[label.value] if label else -1 for label in labels], np.int64)
    of_row = of_set[labelled.label_set]
    has_value = of_row >= 0
    totals = np.zeros(len(number), np.int64)
    np.add.at(totals, of_row[has_value], labelled.values[0][has_value])
    ranked = sorted(first, key=lambda value: (value == OTHER, -totals[number[value]], value))
    heaviest = [value for value in ranked[:max_values] if value != OTHER]
    found = [
        _ValueRows(value, first[value], np.flatnonzero(of_row == number[value]))
        for value in heaviest
    ]
    of_others = has_value & ~np.isin(of_row, [number[value] for value in heaviest])
    if of_others.any():
        found.append(_ValueRows(OTHER, None, np.flatnonzero(of_others)))
    return found


def _find_label(label_set: Sequence[Label], name: str) -> Label | None:
    """Return the set's first label of this name; None if its value is empty or NOT_SET."""
    found = next((label for label in label_set if label.key == name), None)
    return found if found and found.value not in ("", NOT_SET) else None


class _Roots:
    """Builder of a split tree, one root at a time."""

    def __init__(self, tree: Tree, name: str, max_nodes: int) -> None:
        self._tree = tree
        self._name = name
        self._max_nodes = max_nodes
        self._count = 0  # nodes
        self._parts: list[_ValueRows] = []
        self._parents = [np.zeros(0, np.int32)]
        self._frames = [np.zeros(0, np.int32)]
        self._self = [tree.self[:, :0]]
        self._part_of_node = [np.zeros(0, np.int32)]

    def add(self, part: _ValueRows, values: NDArray[np.int64]) -> None:
        """Add a root with the nodes of the tree that lead to `values` [K, N], if there are any."""
        tree = self._tree
        has_value = np.array(values.any(axis=0), np.uint8)
        below = select_used_nodes(tree.parent, tree.frame, has_value)
        if not len(below.node):
            return
        root = np.int32(self._count)
        parent = np.where(below.parent < 0, root, below.parent + (root + 1))
        self._parents += [np.full(1, -1, np.int32), parent.astype(np.int32)]
        root_frame = np.full(1, len(tree.frames.id) + len(self._parts), np.int32)
        self._frames += [root_frame, tree.frame[below.node]]
        self._self += [np.zeros((len(values), 1), np.int64), values[:, below.node]]
        self._part_of_node.append(np.full(len(parent) + 1, len(self._parts), np.int32))
        self._parts.append(part)
        self._count += len(parent) + 1
        if self._count > self._max_nodes:
            raise TooLarge(LIMIT, self._count, self._max_nodes)

    def tree(self) -> Tree:
        frames = _with_labels(
            self._tree.frames, [f"{self._name}: {part.text}" for part in self._parts]
        )
        parent, frame = np.concatenate(self._parents), np.concatenate(self._frames)
        return replace(
            self._tree,
            frames=frames,
            id=node_ids(parent, frame, frames.id),
            parent=parent,
            frame=frame,
            self=np.ascontiguousarray(np.concatenate(self._self, axis=1)),
            labelled=self._build_labelled(),
        )

    def _build_labelled(self) -> LabelledSelf | None:
        own, part = np.concatenate(self._self, axis=1), np.concatenate(self._part_of_node)
        is_set = np.array([each.label is not None for each in self._parts], bool)
        if not is_set.any():
            return None
        node = np.flatnonzero(own.any(axis=0) & is_set[part]).astype(np.int32)
        number = (np.cumsum(is_set) - 1).astype(np.int32)
        sets = tuple((each.label,) for each in self._parts if each.label)
        return LabelledSelf(sets, node, number[part[node]], own[:, node])


def with_tag_roots(tree: Tree, name: str) -> Tree:
    """Rename the roots of a tree split by this label: function VALUE in the file NAME."""
    frames = tree.frames
    if frames.is_label is None:
        return tree
    strings = list(frames.strings)
    file = frames.file.copy()
    file[frames.is_label] = len(strings)
    for i in frames.name[frames.is_label].tolist():
        strings[i] = strings[i].removeprefix(f"{name}: ")
    return replace(tree, frames=replace(frames, strings=[*strings, name], file=file))


def _with_labels(frames: Frames, texts: Sequence[str]) -> Frames:
    """Return the frames with further ones, of these names, that are values of the label."""
    earlier, added = (
        StringTable.from_strings(frames.strings),
        StringTable.from_strings([*texts, ""]),
    )
    offset = int(earlier.ends[-1]) if len(earlier) else 0
    strings = StringTable(
        b"".join([earlier.data, added.data]),
        np.concatenate([earlier.ends, added.ends + offset]),
    )
    name = np.arange(len(earlier), len(earlier) + len(texts), dtype=np.int32)
    nothing = np.full(len(texts), len(strings) - 1, np.int32)  # the index of ""
    line = np.zeros(len(texts), np.int32)
    ids = frame_ids(function_ids(strings.ids(), name, nothing), line)
    is_label = np.zeros(len(frames.id) + len(texts), bool)
    is_label[len(frames.id) :] = True
    return Frames(
        strings=strings,
        id=np.concatenate([frames.id, ids]),
        name=np.concatenate([frames.name, name]),
        file=np.concatenate([frames.file, nothing]),
        line=np.concatenate([frames.line, line]),
        mapping=np.concatenate([frames.mapping, nothing]),
        is_label=is_label,
        start_line=np.concatenate([frames.get_start_lines(), line]),
    )
