"""Base class of hour and day blocks: symbols, the two call trees, and the values of rows."""

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.metric_columns import MetricColumns, metric_columns
from profiles.engine.blocks.sections.container import Container, Source, shallow_copy
from profiles.engine.blocks.sections.decoded_columns import Arrays, ColumnStore, DecodedColumns
from profiles.engine.blocks.sections.dictionary import (
    BlockFunctions,
    FunctionTree,
    LineTree,
    read_functions,
    read_lines,
    read_texts,
    read_tree,
)
from profiles.engine.blocks.sections.profile_columns import ProfileColumns, read_profiles
from profiles.engine.blocks.sections.sample_labels import LabelledValues, read_labelled
from profiles.engine.blocks.sparse_values import Rows, SparseValueReader, check_cuts
from profiles.engine.blocks.used_nodes import UsedNodes, select_used_nodes
from profiles.engine.cancellation import Check, never_cancel
from profiles.engine.encoding.json_header import read_metrics
from profiles.engine.errors import BadBlock
from profiles.engine.metrics import Metric
from profiles.engine.string_table import StringTable

Sums = tuple[NDArray[np.int64], NDArray[np.uint8]]


class Derived(Protocol):
    """Result derived from a block that is expensive to compute and therefore cached with it."""

    def to_arrays(self) -> Arrays: ...

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self: ...


D = TypeVar("D", bound=Derived)


class UsedSums(NamedTuple):
    """Sums over rows, restricted to the nodes that the rows use."""

    values: NDArray[np.int64]  # [K, M], K metrics at the M used nodes
    used: UsedNodes

    def to_arrays(self) -> Arrays:
        return self.values, *self.used

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "UsedSums":
        values, *used = arrays
        return cls(values, UsedNodes(*used))


class _CachedResult(NamedTuple):
    key: Hashable
    value: Derived
    size: int  # bytes in the process's own memory


class Block:
    """Immutable block; sections are read and decompressed on first access.

    Raise `BadBlock` on access to a section that is damaged. Safe to use from several threads at
    once. If a profile type is given, metrics are returned under their canonical names (as queries
    use them), whatever names they are stored under.
    """

    def __init__(
        self,
        data: bytes | memoryview | Source,
        kind: bytes,
        profile_type: str = "",
        store: ColumnStore | None = None,
    ) -> None:
        self._container = Container(data, kind, store)
        self._profile_type = profile_type
        head = self._container.head
        try:
            self._stored = read_metrics(head["metrics"])
            self.count = int(head["profiles"])
            self.rows = int(head["rows"])  # of sparse values: profiles, or groups of profiles
            self._cuts = [int(cut) for cut in head["cuts"]]
            check_cuts(self._cuts, self.rows)
        except (KeyError, TypeError, ValueError) as error:
            raise BadBlock(f"Damaged block, section directory: {error}.") from error
        self._derived: dict[type[Derived], _CachedResult] = {}

    def with_source(self, source: Source) -> Self:
        """Return the block with all that was read so far, which reads the rest from `source`."""
        return self._with_container(self._container.with_source(source))

    def copy_without_bytes(self) -> Self:
        """Return the block without its bytes; `with_source` restores it."""
        return self._with_container(self._container.copy_without_bytes())

    def _with_container(self, container: Container) -> Self:
        other = shallow_copy(self)
        other._container = container
        if "sparse_values" in vars(other):
            vars(other)["sparse_values"] = self.sparse_values.with_container(other._container)
        return other

    def copy_without_columns(self) -> Self:
        """Return the block without what was read of it so far, but for its directory.

        Builders read each of many blocks by a copy of its own, to free its columns after it.
        """
        other = shallow_copy(self)
        attributes = vars(other)
        for name in [*attributes]:
            if isinstance(getattr(type(self), name, None), cached_property):
                del attributes[name]
        other._derived = {}
        return other

    @property
    def store(self) -> ColumnStore | None:
        """Return the column store that the block was opened with."""
        return self._container.store

    @property
    def size(self) -> int:
        """Approximate bytes that the block occupies in the process's own memory at the moment."""
        derived = [*self._derived.values()]  # a copy: other threads may add entries at any time
        sparse_values: SparseValueReader | None = vars(self).get("sparse_values")
        return (
            self._container.size
            + sum(each.size for each in derived)
            + (sparse_values.size if sparse_values else 0)
        )

    def get_derived(self, result_type: type[D], key: Hashable, make: Callable[[], D]) -> D:
        """Return the result of `make`, cached until another key is requested for the same type.

        One result per type is cached; this is meant for results over all rows of the block, which
        most queries read. The column store has the results for all keys.
        """
        cached = self._derived.get(result_type)
        if cached and cached.key == key:
            return cast("D", cached.value)
        store = self._container.store
        name = f"{result_type.__name__} {self._profile_type} {key}"
        columns = store.find(name) if store else None
        if columns is None:
            columns = DecodedColumns({}, make().to_arrays())
            if store:
                store.add(name, columns)
        made = result_type.from_arrays(columns.arrays)
        self._derived[result_type] = _CachedResult(key, made, columns.private_bytes)
        return made

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics, under canonical names if the profile type is known."""
        return self.columns.metrics

    @cached_property
    def columns(self) -> MetricColumns:
        return metric_columns(self._profile_type, self._stored, self._read_profiles)

    @cached_property
    def profiles(self) -> ProfileColumns:
        return self.columns.convert_profiles(self._read_profiles())

    def _read_profiles(self) -> ProfileColumns:
        return read_profiles(self._container, self.count, self._stored)

    @cached_property
    def functions(self) -> BlockFunctions:
        """Return the distinct functions; their names and files are indexes of `strings`."""
        return read_functions(self._container)

    @cached_property
    def strings(self) -> StringTable:
        """Return the strings. Raise `BadBlock` if a function refers to a missing one."""
        strings = read_texts(self._container)
        if len(strings) <= self._last_string():
            raise BadBlock("Damaged block, section texts: strings are missing.")
        return strings

    def _last_string(self) -> int:
        names = self.functions.name.max(initial=-1), self.functions.file.max(initial=-1)
        return int(max(names))

    @property
    def tree(self) -> FunctionTree:
        """Return the function tree."""
        return self._tree_and_lines[0]

    @property
    def node_of_line(self) -> NDArray[np.int32]:
        """Return the function node of each line node, int32 [L]."""
        return self._tree_and_lines[1]

    @cached_property
    def _tree_and_lines(self) -> tuple[FunctionTree, NDArray[np.int32]]:
        return read_tree(self._container, len(self.functions.id))

    @cached_property
    def lines(self) -> LineTree:
        """Return the line tree."""
        return read_lines(self._container, self.tree, self.node_of_line, len(self.strings))

    @cached_property
    def labelled(self) -> LabelledValues | None:
        """Return the values with sample labels, or None if the block has none."""
        lines = len(self.node_of_line)
        found = read_labelled(self._container, self.rows, lines, len(self._stored))
        return found.with_values(self.columns.sum_columns(found.values)) if found else None

    @cached_property
    def sparse_values(self) -> SparseValueReader:
        lines = len(self.node_of_line)
        return SparseValueReader(self._container, "cells", self._cuts, lines, self.columns)

    def sums(
        self,
        metrics: Sequence[int],
        rows: Rows | None,
        by_function: bool,
        check: Check = never_cancel,
    ) -> Sums:
        """Sum the self values of the rows (None: all rows) for the metrics with these indexes.

        Return int64 [len(metrics), nodes] and uint8 [nodes], which marks the nodes that have a
        value. Nodes are those of the function tree if `by_function` is set, of the line tree
        otherwise. Raise `BadProfile` if a sum exceeds 64 bits.
        """
        lines = len(self.node_of_line)
        target = self.node_of_line if by_function else np.arange(lines, dtype=np.int32)
        return self.sparse_values.sum_by_target(
            rows, metrics, target, len(self.tree.parent) if by_function else lines, check
        )

    def get_used_sums(
        self,
        metrics: Sequence[int],
        rows: Rows | None,
        by_function: bool,
        check: Check = never_cancel,
    ) -> UsedSums:
        """Return the result of `sums` restricted to the nodes with values and their ancestors.

        The result for all rows (`rows` is None) is cached with the block.
        """
        if rows is None:
            key = (*metrics, by_function)
            return self.get_derived(
                UsedSums, key, lambda: self._compute_used_sums(metrics, None, by_function, check)
            )
        return self._compute_used_sums(metrics, rows, by_function, check)

    def _compute_used_sums(
        self, metrics: Sequence[int], rows: Rows | None, by_function: bool, check: Check
    ) -> UsedSums:
        sums, marks = self.sums(metrics, rows, by_function, check)
        used = self.select_used(marks, by_function)
        return UsedSums(np.ascontiguousarray(sums[:, used.node]), used)

    def row_totals(
        self,
        metric: int,
        rows: Rows | None,
        ends: Rows | None = None,
        check: Check = never_cancel,
    ) -> NDArray[np.int64]:
        """Return the total of each row in the metric with this index, int64 [rows].

        With `ends`, a mask of function nodes, only the values of these nodes count. Rows that
        `rows` does not mark have 0.
        """
        totals = np.zeros(self.rows, np.int64)
        counts = None if ends is None else ends[self.node_of_line]
        for chunk, sparse_values, marks in self.sparse_values.read_marked(rows, [metric], check):
            values = sparse_values.values[0]
            if counts is not None:
                values = np.where(counts[sparse_values.node], values, 0)
            sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
            starts = sparse_values.starts
            totals[chunk.first : chunk.last] = (sums[starts[1:]] - sums[starts[:-1]]) * marks
        return totals

    def select_used(self, used: NDArray[np.uint8], by_function: bool) -> UsedNodes:
        """Return the subtree of the nodes that `sums` marked and of their ancestors."""
        tree = self.tree
        if by_function:
            return select_used_nodes(tree.parent, tree.function, used)
        return select_used_nodes(self.lines.parent, self.lines.frame, used)

    def select_labelled(self, rows: Rows | None) -> LabelledValues | None:
        """Return the values with sample labels in these rows, or None if the block has none."""
        return self.labelled.select_rows(rows) if self.labelled else None
