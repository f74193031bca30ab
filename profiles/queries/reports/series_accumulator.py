"""Accumulator of series: sums of a metric by group and time step.

Without filters and sample labels it adds the total that head rows and blocks have of every profile.
Otherwise it adds the totals of the values that count, which are read from the profile.
"""

from collections.abc import Hashable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np
from django.db.models import BinaryField, QuerySet, Value
from numpy.typing import NDArray

from profiles.engine.blocks import ProfileColumns
from profiles.engine.calltree.filters import Filters
from profiles.engine.coverage import ScanStats
from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric
from profiles.engine.stats.label_totals import LabelTotals, LabelTotalsReader
from profiles.engine.timestamps import micros
from profiles.models import Profile
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import CachedQuery, ProfilesQuery
from profiles.queries.plan import QueryPlan, ReadOptions
from profiles.queries.result_codec import encodable
from profiles.queries.scan import (
    explain_errors,
    find_total,
    open_plan,
    require_64_bits,
    stream_rows,
)
from profiles.queries.scan_input import UNREADABLE, BlockInput, DayInput, leave_out
from profiles.queries.selection import Grouping, GroupKind, InvalidQuery, ProfileSelection, View
from profiles.queries.views import build_filters, explain_view_errors

MAX_VALUES = 20_000  # distinct values of the label in the range
CHUNK = 64  # head rows between two checks of the deadline
Numbers = NDArray[np.int64]
Key = int | str | None  # Deployment.pk, or the value of a label


@encodable
@dataclass(frozen=True, slots=True)
class GroupSums:
    """Sums by group and time step, before groups are named; X cells with a value."""

    keys: tuple[int | str | None, ...]  # of each of the G groups
    profiles: tuple[int, ...]  # [G]
    duration_ns: tuple[int, ...]  # [G], Σ
    group: NDArray[np.int64]  # [X]
    step: NDArray[np.int64]  # [X]
    total: NDArray[np.int64]  # [X]
    step_profiles: NDArray[np.int64]  # [T]
    step_duration_ns: NDArray[np.int64]  # [T], Σ
    stats: ScanStats


@dataclass(frozen=True)
class SeriesMerge(ProfilesQuery[GroupSums], CachedQuery[QueryPlan, GroupSums]):
    """Sum of a metric by the values of a label and by time step."""

    selection: ProfileSelection
    view: View
    group_by: Grouping | None
    starts: tuple[datetime, ...]  # of the steps
    step: timedelta

    @property
    def options(self) -> ReadOptions:
        # A day block may cover several steps unless values are read from it.
        return ReadOptions(
            by_labels=self.reads_values and self.kind is GroupKind.LABEL,
            cuts=self.starts if self.reads_values else (),
        )

    @property
    def cache_key(self) -> Hashable:
        return self.label, self.view.filters, self.view.focus, self.step

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> GroupSums:
        accumulator = SeriesAccumulator(context, self, metric)
        with explain_errors(), explain_view_errors():
            accumulator.add(plan)
        return accumulator.sums()

    def count_numbers(self, result: GroupSums) -> int:
        return 3 * len(result.total)

    def is_readable(self, result: GroupSums) -> bool:
        return not result.stats.missing

    @property
    def kind(self) -> GroupKind | None:
        return self.group_by.kind if self.group_by else None

    @property
    def label(self) -> str:
        """Return the URL parameter of the label; "" without one."""
        return self.group_by.parameter if self.group_by else ""

    @property
    def reads_values(self) -> bool:
        """Return True if the stored totals of profiles are not enough."""
        has_filters = self.view.focus is not None or build_filters(self.view) != Filters()
        return self.kind is GroupKind.SAMPLE or has_filters or bool(self.selection.samples)

    def build_reader(self, context: QueryContext, metric: Metric) -> LabelTotalsReader:
        by_sample = self.group_by is not None and self.kind is GroupKind.SAMPLE
        return LabelTotalsReader(
            metric,
            self.selection.type.value,
            build_filters(self.view),
            self.view.focus,
            self.selection.samples,
            self.group_by.name if self.group_by and by_sample else "",
            context.check,
        )

    def get_key(self, deployment: int, labels: dict[str, str]) -> Key:
        """Return the group of a profile; None if groups are not of whole profiles."""
        if self.kind in (GroupKind.VERSION, GroupKind.ZONE):
            return deployment
        if self.group_by is not None and self.kind is GroupKind.LABEL:
            return labels.get(self.group_by.name)
        return None


class SeriesAccumulator:
    """Sums by group and step of the profiles of one plan."""

    def __init__(self, context: QueryContext, query: SeriesMerge, metric: Metric) -> None:
        self._context, self._query, self._metric = context, query, metric
        self._reader = query.build_reader(context, metric) if query.reads_values else None
        self._is_of_profiles = query.kind is not GroupKind.SAMPLE
        self._first, self._width = micros(query.starts[0]), query.step // timedelta(microseconds=1)
        self._numbers: dict[Key, int] = {}
        self._profiles: list[Numbers] = [np.zeros((3, 0), np.int64)]  # group, count, duration
        self._sparse_values: list[Numbers] = [np.zeros((3, 0), np.int64)]  # group, step, total
        self._step_profiles = np.zeros(len(query.starts), np.int64)
        self._step_duration = np.zeros(len(query.starts), np.int64)
        self._stats = ScanStats()

    def add(self, plan: QueryPlan) -> None:
        """Add the matching profiles of all blocks and head rows.

        Raise InvalidQuery for more than MAX_VALUES groups, BadProfile for a sum beyond 64 bits,
        and DeadlinePassed.
        """
        head, blocks = open_plan(self._context, plan, self._metric)
        for each in blocks:
            self._context.check()
            self._add_block(each)
        if plan.has_head:
            self._add_head(head)
        require_64_bits(self._stats.total)

    def sums(self) -> GroupSums:
        """Return the sums of the added profiles."""
        counts = np.zeros((2, len(self._numbers)), np.int64)
        group, *columns = np.concatenate(self._profiles, axis=1)
        for count, values in zip(counts, columns, strict=True):
            np.add.at(count, group, values)
        steps = len(self._query.starts)
        sparse_values = _sum_values(np.concatenate(self._sparse_values, axis=1), steps)
        return GroupSums(
            keys=tuple(self._numbers),
            profiles=tuple(counts[0].tolist()),
            duration_ns=tuple(counts[1].tolist()),
            group=sparse_values[0],
            step=sparse_values[1],
            total=sparse_values[2],
            step_profiles=self._step_profiles,
            step_duration_ns=self._step_duration,
            stats=self._stats,
        )

    def _add_block(self, each: BlockInput) -> None:
        """Add the matching profiles of a block, or report that it is unreadable."""
        try:
            columns, mask = each.opened.profiles, each.mask
            of_rows = self._read_values(each) if mask.any() else None
        except UNREADABLE as error:
            leave_out(self._stats, each.opened.row, error)
            return
        each.dimension(self._stats)
        rows = np.flatnonzero(mask)
        if not len(rows):
            return
        keys, key = self._keys(columns, columns.deployment, columns.label_set)
        group, step = self._number_groups(keys, key[rows]), self._step(columns.time[rows])
        self._count(group, step, columns.duration_ns[rows])
        if of_rows is None:
            total = columns.totals[columns.metrics.index(each.metric)][rows]
            self._add(group, step, total)
        elif isinstance(each, DayInput):
            groups = each.opened.day.groups
            keys, key = self._keys(columns, groups.deployment, groups.label_set)
            # No step begins inside the day: the plan has its hours otherwise.
            day_step = self._step(np.full(len(key), micros(each.start), np.int64))
            self._add_values(of_rows, keys, key, day_step)
        else:
            self._add_values(of_rows, keys, key, self._step(columns.time))

    def _read_values(self, each: BlockInput) -> LabelTotals | None:
        if self._reader is None:
            return None
        if isinstance(each, DayInput):
            return self._reader.read_block(each.opened.day, each.groups)
        return self._reader.read_block(each.opened.hour, each.mask)

    def _add_values(
        self, found: LabelTotals, keys: Sequence[Key], key: Numbers, step: Numbers
    ) -> None:
        """Add the totals of a block's rows, whose groups are keys[key] unless by sample label."""
        if self._is_of_profiles:
            group = self._number_groups(keys, key[found.row])
        else:
            group = self._number_groups(found.values, found.value)
        self._add(group, step[found.row], found.total)

    def _add_head(self, head: QuerySet[Profile]) -> None:
        tree = "tree" if self._reader else Value(b"", BinaryField())
        columns = ("deployment_id", "duration_ns", "labels", "totals", tree, "time", "pk")
        with closing(stream_rows(head.values_list(*columns))) as rows:
            while chunk := list(islice(rows, CHUNK)):
                self._context.check()
                self._add_rows(chunk)

    def _add_rows(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add head rows, in order of time."""
        used = list[tuple[int, int, int, datetime]]()  # group, total, duration
        type_ = self._query.selection.type.value
        sparse_values: list[tuple[int, int, int]] = []  # row of `used`, group, total
        for deployment, duration, labels, totals, tree, time, _ in rows:
            total = find_total(totals, self._metric, type_)
            if not isinstance(total, int):
                self._stats.lack(self._metric, total, 1, time, time)
                continue
            try:
                found = self._reader.read_tree(bytes(tree), total) if self._reader else None
            except BadTree as error:
                end = time + timedelta(microseconds=duration // 1000)
                self._stats.leave_out(time, end, str(error))
                continue
            key = self._query.get_key(deployment, labels)
            group = self._number(key) if self._is_of_profiles else 0
            if found is None:
                sparse_values.append((len(used), group, total))
            else:
                for index, value in zip(found.value.tolist(), found.total.tolist(), strict=True):
                    number = group if self._is_of_profiles else self._number(found.values[index])
                    sparse_values.append((len(used), number, value))
            used.append((group, total, duration, time))
        if not used:
            return
        groups, whole, durations, times = zip(*used, strict=True)
        step = self._step(np.array([micros(time) for time in times], np.int64))
        duration_ns = np.array(durations, np.int64)
        self._count(np.array(groups, np.int64), step, duration_ns)
        row, group_of, value_of = np.array(sparse_values, np.int64).reshape(-1, 3).T
        self._add(group_of, step[row], value_of)
        self._stats.take(len(used), sum(whole), sum(durations), times[0], times[-1])

    def _keys(
        self, columns: ProfileColumns, deployment: Numbers, label_set: NDArray[np.int32]
    ) -> tuple[Sequence[Key], Numbers]:
        """Return the groups of rows: distinct keys, and the index of the key of each row."""
        if self._query.kind is GroupKind.LABEL:
            keys = [self._query.get_key(0, dict(labels)) for labels in columns.label_sets]
            return keys, label_set.astype(np.int64)
        distinct, index = np.unique(deployment, return_inverse=True)
        return [self._query.get_key(pk, {}) for pk in distinct.tolist()], index

    def _number_groups(self, keys: Sequence[Key], index: Numbers) -> Numbers:
        """Return the number of the group keys[index]; only keys in use get a number."""
        used, inverse = np.unique(index, return_inverse=True)
        numbers = [self._number(keys[i]) for i in used.tolist()]
        return np.array(numbers, np.int64)[inverse]

    def _number(self, key: Key) -> int:
        number = self._numbers.setdefault(key, len(self._numbers))
        if number >= MAX_VALUES:
            raise InvalidQuery(
                f"{self._query.label} has more than {MAX_VALUES:,} values in this range. "
                "Choose a shorter range or another label."
            )
        return number

    def _step(self, time: Numbers) -> Numbers:
        return np.maximum(time - self._first, 0) // self._width

    def _count(self, group: Numbers, step: Numbers, duration_ns: Numbers) -> None:
        """Count profiles, by step and, unless groups are of samples, by group."""
        np.add.at(self._step_profiles, step, 1)
        np.add.at(self._step_duration, step, duration_ns)
        if self._is_of_profiles:
            columns = np.stack([group, np.ones_like(group), duration_ns])
            self._profiles.append(columns)

    def _add(self, group: Numbers, step: Numbers, total: Numbers) -> None:
        self._sparse_values.append(
            _sum_values(np.stack([group, step, total]), len(self._query.starts))
        )


def _sum_values(sparse_values: Numbers, steps: int) -> Numbers:
    """Sum sparse_values (group, step, total) [3, X] of the same group and step."""
    distinct, index = np.unique(sparse_values[0] * steps + sparse_values[1], return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, index, sparse_values[2])
    return np.stack([distinct // steps, distinct % steps, total])
