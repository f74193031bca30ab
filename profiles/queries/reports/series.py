"""Series: sums of a metric over time, by the values of a label.

A series by version, zone or profile label needs no call tree, unless the view has filters: head
rows and blocks have the total of every profile beside its time, deployment and labels. With
filters, or by a sample label, each profile's total is read from its values; nothing is merged.
"""

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from django.db.models import BinaryField, QuerySet, Value
from numpy.typing import NDArray

from profiles.engine.blocks import ProfileColumns
from profiles.engine.coverage import ScanStats
from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric
from profiles.engine.stats.label_totals import LabelTotals, LabelTotalsReader
from profiles.engine.timestamps import micros
from profiles.models import Profile
from profiles.queries.cache import cache_sum, cached_sum
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_by_pk
from profiles.queries.plan import QueryPlan, choose_metric, metrics_of, plan_query
from profiles.queries.reports.history import step_of, step_starts
from profiles.queries.results import GroupSeries, GroupSums, HistoryStep, SeriesResult
from profiles.queries.scan import (
    explain_errors,
    open_plan,
    require_64_bits,
    stream_rows,
    total_of,
)
from profiles.queries.scan_input import UNREADABLE, BlockInput, DayInput, leave_out
from profiles.queries.selection import Grouping, GroupKind, InvalidQuery, Selection, View
from profiles.queries.tree import explain_view_errors, filters_of

SIZE = 10  # values with a series of their own, by default
MAX_SIZE = 1000
MAX_VALUES = 20_000  # distinct values of the label in the range
CHUNK = 64  # head rows between two checks of the deadline
Numbers = NDArray[np.int64]
Key = int | str | None  # Deployment.pk, or the value of a label


def run_series(
    context: QueryContext,
    selection: Selection,
    view: View,
    group_by: Grouping | None = None,
    *,
    step: timedelta | None = None,
    size: int = SIZE,
) -> SeriesResult:
    """Sum the view's metric in each time step, by the values of a label.

    `values` of the result has the `size` values with the greatest totals, at most MAX_SIZE, and
    `other` the sum of all others. Profiles or samples without the label are a group of their own,
    whose value is None. Without `group_by` there is one group, of value None. All values are exact
    sums after the filters and the focus of the view: the groups of a step add up to its total.

    Divide by the step's `profiles` for the mean per profile, or by its `duration_ns` for a rate;
    the groups' quotients then add up to that of all profiles. A group of profiles (by version, zone
    or profile label) has its own `profiles` and `duration_ns` over the range. Groups of samples
    have none: one profile has samples of many values.

    Steps are those of `run_history`: they begin at round times of UTC, by default those of
    `step_of`. Raise InvalidQuery if there are too many steps, or more than MAX_VALUES values.

    Reads two SQL statements as `run_history` does, one more for versions and zones, and one for
    each metric and head. Day blocks are used for days inside the range. With filters or by a sample
    label, they are used only if no step begins inside of them.
    """
    if view.root is not None:
        raise InvalidQuery("A series cannot start at a node of the tree. Remove `root`.")
    step = step or step_of(selection.end - selection.start)
    starts = step_starts(selection, step)
    with context.snapshot:
        metrics = metrics_of(context, selection)
        metric = choose_metric(selection, view, metrics)
        query = _SeriesQuery(context, selection, view, group_by, metric, starts, step)
        plan = plan_query(
            context,
            selection,
            by_labels=query.reads_values and query.kind is GroupKind.LABEL,
            cuts=starts if query.reads_values else (),
        )
        with explain_errors(), explain_view_errors():
            sums = _sums(query, plan)
        groups = _groups(query, sums)
    size = min(size, MAX_SIZE)
    others = groups[size:]
    return SeriesResult(
        selection=selection,
        view=view,
        group_by=group_by,
        metric=metric,
        metrics=metrics,
        coverage=sums.stats.coverage(),
        step_seconds=step.total_seconds(),
        steps=_steps(query, sums),
        values=tuple(_series(query, sums, [each]) for each in groups[:size]),
        other=_series(query, sums, others) if others else None,
        other_values=len(others),
    )


class _SeriesQuery(NamedTuple):
    """Parameters of one query."""

    context: QueryContext
    selection: Selection
    view: View
    group_by: Grouping | None
    metric: Metric
    starts: list[datetime]  # of the steps
    step: timedelta

    @property
    def kind(self) -> GroupKind | None:
        return self.group_by.kind if self.group_by else None

    @property
    def reader(self) -> LabelTotalsReader:
        by_sample = self.group_by is not None and self.kind is GroupKind.SAMPLE
        return LabelTotalsReader(
            self.metric,
            self.selection.type.value,
            filters_of(self.view),
            self.view.focus,
            self.selection.samples,
            self.group_by.name if self.group_by and by_sample else "",
            self.context.check,
        )

    @property
    def reads_values(self) -> bool:
        """Return True if the stored totals of profiles are not enough."""
        return self.kind is GroupKind.SAMPLE or self.reader.is_restricted

    def key_of(self, deployment: int, labels: dict[str, str]) -> Key:
        """Return the group of a profile; None if groups are not of whole profiles."""
        if self.kind in (GroupKind.VERSION, GroupKind.ZONE):
            return deployment
        if self.group_by is not None and self.kind is GroupKind.LABEL:
            return labels.get(self.group_by.name)
        return None


class _GroupSums(NamedTuple):
    """Named group: its value, and the numbers of its groups in GroupSums."""

    value: str | None
    numbers: list[int]
    total: int


def _sums(query: _SeriesQuery, plan: QueryPlan) -> GroupSums:
    """Sum all matching profiles; the result of a plan in blocks is cached: do not modify it."""
    view = query.view
    of = "series", query.metric, _name(query.group_by), view.filters, view.focus, query.step
    sums: GroupSums | None = cached_sum(plan.result_key, of)
    if sums is None:
        sums = _Scan(query).sums(plan)
        numbers, is_readable = 3 * len(sums.total), not sums.stats.missing
        cache_sum(plan.result_key, of, sums, numbers, is_readable=is_readable)
    return sums


def _name(group_by: Grouping | None) -> str:
    return group_by.parameter if group_by else ""


class _Scan:
    """Accumulator of sums by group and step."""

    def __init__(self, query: _SeriesQuery) -> None:
        self._query = query
        self._reader = query.reader if query.reads_values else None
        self._is_of_profiles = query.kind is not GroupKind.SAMPLE
        self._first, self._width = micros(query.starts[0]), query.step // timedelta(microseconds=1)
        self._numbers: dict[Key, int] = {}
        self._profiles: list[Numbers] = [np.zeros((3, 0), np.int64)]  # group, count, duration
        self._sparse_values: list[Numbers] = [np.zeros((3, 0), np.int64)]  # group, step, total
        self._step_profiles = np.zeros(len(query.starts), np.int64)
        self._step_duration = np.zeros(len(query.starts), np.int64)
        self._stats = ScanStats()

    def sums(self, plan: QueryPlan) -> GroupSums:
        head, blocks = open_plan(self._query.context, plan, self._query.metric)
        for each in blocks:
            self._query.context.check()
            self._add_block(each)
        if plan.has_head:
            self._add_head(head)
        require_64_bits(self._stats.total)
        counts = np.zeros((2, len(self._numbers)), np.int64)
        group, *columns = np.concatenate(self._profiles, axis=1)
        for sums, values in zip(counts, columns, strict=True):
            np.add.at(sums, group, values)
        steps = len(self._query.starts)
        sparse_values = _summed(np.concatenate(self._sparse_values, axis=1), steps)
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
        group, step = self._numbered(keys, key[rows]), self._step(columns.time[rows])
        self._count(group, step, columns.duration_ns[rows])
        if of_rows is None:
            total = columns.totals[columns.metrics.index(each.metric)][rows]
            self._add(group, step, total)
        elif isinstance(each, DayInput):
            groups = each.opened.day.groups
            keys, key = self._keys(columns, groups.deployment, groups.label_set)
            # No step begins inside the day: the plan has its hours otherwise.
            at = self._step(np.full(len(key), micros(each.start), np.int64))
            self._add_values(of_rows, keys, key, at)
        else:
            self._add_values(of_rows, keys, key, self._step(columns.time))

    def _read_values(self, each: BlockInput) -> LabelTotals | None:
        if self._reader is None:
            return None
        if isinstance(each, DayInput):
            return self._reader.of_block(each.opened.day, each.groups)
        return self._reader.of_block(each.opened.hour, each.mask)

    def _add_values(
        self, found: LabelTotals, keys: Sequence[Key], key: Numbers, step: Numbers
    ) -> None:
        """Add the totals of a block's rows, whose groups are keys[key] unless by sample label."""
        if self._is_of_profiles:
            group = self._numbered(keys, key[found.row])
        else:
            group = self._numbered(found.values, found.value)
        self._add(group, step[found.row], found.total)

    def _add_head(self, head: QuerySet[Profile]) -> None:
        tree = "tree" if self._reader else Value(b"", BinaryField())
        columns = ("deployment_id", "duration_ns", "labels", "totals", tree, "time", "pk")
        with closing(stream_rows(head.values_list(*columns))) as rows:
            while chunk := list(islice(rows, CHUNK)):
                self._query.context.check()
                self._add_rows(chunk)

    def _add_rows(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add head rows, in order of time."""
        of, used = self._query, list[tuple[int, int, int, datetime]]()  # group, total, duration
        sparse_values: list[tuple[int, int, int]] = []  # row of `used`, group, total
        for deployment, duration, labels, totals, tree, time, _ in rows:
            total = total_of(totals, of.metric, of.selection.type.value)
            if not isinstance(total, int):
                self._stats.lack(of.metric, total, 1, time, time)
                continue
            try:
                found = self._reader.of_tree(bytes(tree), total) if self._reader else None
            except BadTree as error:
                end = time + timedelta(microseconds=duration // 1000)
                self._stats.leave_out(time, end, str(error))
                continue
            key = of.key_of(deployment, labels)
            group = self._number(key) if self._is_of_profiles else 0
            if found is None:
                sparse_values.append((len(used), group, total))
            else:
                for at, value in zip(found.value.tolist(), found.total.tolist(), strict=True):
                    number = group if self._is_of_profiles else self._number(found.values[at])
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
            keys = [self._query.key_of(0, dict(labels)) for labels in columns.label_sets]
            return keys, label_set.astype(np.int64)
        distinct, index = np.unique(deployment, return_inverse=True)
        return [self._query.key_of(pk, {}) for pk in distinct.tolist()], index

    def _numbered(self, keys: Sequence[Key], index: Numbers) -> Numbers:
        """Return the number of the group keys[index]; only keys in use get a number."""
        used, inverse = np.unique(index, return_inverse=True)
        numbers = [self._number(keys[i]) for i in used.tolist()]
        return np.array(numbers, np.int64)[inverse]

    def _number(self, key: Key) -> int:
        number = self._numbers.setdefault(key, len(self._numbers))
        if number >= MAX_VALUES:
            raise InvalidQuery(
                f"{_name(self._query.group_by)} has more than {MAX_VALUES:,} values in this range. "
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
        self._sparse_values.append(_summed(np.stack([group, step, total]), len(self._query.starts)))


def _summed(sparse_values: Numbers, steps: int) -> Numbers:
    """Sum sparse_values (group, step, total) [3, X] of the same group and step."""
    distinct, index = np.unique(sparse_values[0] * steps + sparse_values[1], return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, index, sparse_values[2])
    return np.stack([distinct // steps, distinct % steps, total])


def _groups(query: _SeriesQuery, sums: GroupSums) -> list[_GroupSums]:
    """Return the groups with a total or a profile by value, the greatest total first."""
    totals = np.zeros(len(sums.keys), np.int64)
    np.add.at(totals, sums.group, sums.total)
    numbers: dict[str | None, list[int]] = {}
    for number, (value, total, profiles) in enumerate(
        zip(_values(query, sums.keys), totals.tolist(), sums.profiles, strict=True)
    ):
        if total or profiles:
            numbers.setdefault(value, []).append(number)
    groups = [_GroupSums(value, of, int(totals[of].sum())) for value, of in numbers.items()]
    return sorted(groups, key=lambda each: (-each.total, each.value is None, each.value or ""))


def _values(query: _SeriesQuery, keys: Sequence[Key]) -> list[str | None]:
    """Return the label value of each key; None for an empty one and a deleted deployment."""
    if query.kind not in (GroupKind.VERSION, GroupKind.ZONE):
        return [str(key) if key else None for key in keys]
    by_pk = deployments_by_pk(query.context, [key for key in keys if isinstance(key, int)])
    of_pk = {pk: each.version for pk, each in by_pk.items()}
    if query.kind is GroupKind.ZONE:
        of_pk = {pk: each.zone for pk, each in by_pk.items()}
    return [(of_pk.get(key) or None) if isinstance(key, int) else None for key in keys]


def _series(query: _SeriesQuery, sums: GroupSums, groups: Sequence[_GroupSums]) -> GroupSeries:
    """Return the sum of groups, under the value of the first one."""
    numbers = [number for each in groups for number in each.numbers]
    sparse_values = np.isin(sums.group, numbers)
    totals = np.zeros(len(query.starts), np.int64)
    np.add.at(totals, sums.step[sparse_values], sums.total[sparse_values])
    is_of_profiles = query.kind is not GroupKind.SAMPLE
    return GroupSeries(
        value=groups[0].value,
        total=int(totals.sum()),
        totals=tuple(totals.tolist()),
        profiles=sum(sums.profiles[i] for i in numbers) if is_of_profiles else None,
        duration_ns=sum(sums.duration_ns[i] for i in numbers) if is_of_profiles else None,
    )


def _steps(query: _SeriesQuery, sums: GroupSums) -> tuple[HistoryStep, ...]:
    totals = np.zeros(len(query.starts), np.int64)
    np.add.at(totals, sums.step, sums.total)
    columns = (sums.step_profiles, totals, sums.step_duration_ns)
    return tuple(
        HistoryStep(*each)
        for each in zip(query.starts, *(column.tolist() for column in columns), strict=True)
    )
