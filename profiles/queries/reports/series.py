"""Series: sums of a metric over time, by the values of a label.

A series by version, zone or profile label needs no call tree, unless the view has filters: head
rows and blocks have the total of every profile beside its time, deployment and labels. With
filters, or by a sample label, each profile's total is read from its values; nothing is merged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_by_pk
from profiles.queries.merge_query import Merged
from profiles.queries.reports.series_accumulator import GroupSums, Key, SeriesMerge
from profiles.queries.reports.time_steps import (
    HistoryStep,
    choose_step,
    step_starts,
    steps_document,
)
from profiles.queries.selection import Grouping, GroupKind, InvalidQuery, ProfileSelection, View

SIZE = 10  # values with a series of their own, by default
MAX_SIZE = 1000


@dataclass(frozen=True, slots=True)
class GroupSeries:
    """Sums of one value of a label, over the range and by time step."""

    value: str | None  # None: profiles or samples without the label
    total: int
    totals: tuple[int, ...]  # by step
    profiles: int | None  # None for a sample label: a profile has samples of many values
    duration_ns: int | None  # Σ


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """Sums of a metric by time step, for each value of a label."""

    selection: ProfileSelection
    view: View
    group_by: Grouping | None
    metric: Metric
    metrics: tuple[Metric, ...]
    coverage: Coverage
    step_seconds: float
    steps: tuple[HistoryStep, ...]  # equal, without gaps; the first may begin before the range
    values: tuple[GroupSeries, ...]  # the greatest total first
    other: GroupSeries | None  # sum of all other values; None without any
    other_values: int  # number of values in `other`


def run_series(
    context: QueryContext,
    selection: ProfileSelection,
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
    `choose_step`. Raise InvalidQuery if there are too many steps, or more than MAX_VALUES values.

    Reads two SQL statements as `run_history` does, one more for versions and zones, and one for
    each metric and head. Day blocks are used for days inside the range. With filters or by a sample
    label, they are used only if no step begins inside of them.
    """
    if view.root is not None:
        raise InvalidQuery("A series cannot start at a node of the tree. Remove `root`.")
    step = step or choose_step(selection.end - selection.start)
    starts = step_starts(selection, step)
    query = SeriesMerge(selection, view, group_by, tuple(starts), step)
    with context.snapshot:
        merged = query.run(context)
        groups = _groups(context, query, merged.sum)
    return _result(query, merged, groups, min(size, MAX_SIZE))


class _NamedGroup(NamedTuple):
    """Groups of one value of the label, such as the deployments of one version."""

    value: str | None
    numbers: list[int]  # indexes in GroupSums.keys
    total: int


def _groups(context: QueryContext, query: SeriesMerge, sums: GroupSums) -> list[_NamedGroup]:
    """Return the groups with a total or a profile by value, the greatest total first."""
    totals = np.zeros(len(sums.keys), np.int64)
    np.add.at(totals, sums.group, sums.total)
    numbers: dict[str | None, list[int]] = {}
    for number, (value, total, profiles) in enumerate(
        zip(_values(context, query, sums.keys), totals.tolist(), sums.profiles, strict=True)
    ):
        if total or profiles:
            numbers.setdefault(value, []).append(number)
    groups = [
        _NamedGroup(value, group, int(totals[group].sum())) for value, group in numbers.items()
    ]
    return sorted(groups, key=lambda each: (-each.total, each.value is None, each.value or ""))


def _values(context: QueryContext, query: SeriesMerge, keys: Sequence[Key]) -> list[str | None]:
    """Return the label value of each key; None for an empty one and a deleted deployment."""
    if query.kind not in (GroupKind.VERSION, GroupKind.ZONE):
        return [str(key) if key else None for key in keys]
    by_pk = deployments_by_pk(context, [key for key in keys if isinstance(key, int)])
    of_pk = {pk: each.version for pk, each in by_pk.items()}
    if query.kind is GroupKind.ZONE:
        of_pk = {pk: each.zone for pk, each in by_pk.items()}
    return [(of_pk.get(key) or None) if isinstance(key, int) else None for key in keys]


def _result(
    query: SeriesMerge,
    merged: Merged[GroupSums],
    groups: Sequence[_NamedGroup],
    size: int,
) -> SeriesResult:
    """Return the result: a series for each of the first `size` groups, and one for the others."""
    sums, others = merged.sum, groups[size:]
    return SeriesResult(
        selection=query.selection,
        view=query.view,
        group_by=query.group_by,
        metric=merged.metric,
        metrics=merged.metrics,
        coverage=sums.stats.coverage(),
        step_seconds=query.step.total_seconds(),
        steps=_steps(query, sums),
        values=tuple(_series(query, sums, [each]) for each in groups[:size]),
        other=_series(query, sums, others) if others else None,
        other_values=len(others),
    )


def _series(query: SeriesMerge, sums: GroupSums, groups: Sequence[_NamedGroup]) -> GroupSeries:
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


def _steps(query: SeriesMerge, sums: GroupSums) -> tuple[HistoryStep, ...]:
    totals = np.zeros(len(query.starts), np.int64)
    np.add.at(totals, sums.step, sums.total)
    columns = (sums.step_profiles, totals, sums.step_duration_ns)
    return tuple(
        HistoryStep(*each)
        for each in zip(query.starts, *(column.tolist() for column in columns), strict=True)
    )


def series_document(result: SeriesResult) -> dict[str, Any]:
    """Return the fields of the query API, besides those of the selection."""
    return {
        "metric": result.metric._asdict(),
        "group_by": result.group_by.parameter if result.group_by else None,
        "step_s": result.step_seconds,
        "steps": steps_document(result.steps),
        "values": [{"value": each.value, **_group_document(each)} for each in result.values],
        "other": {"values": result.other_values, **_group_document(result.other)}
        if result.other
        else None,
    }


def _group_document(group: GroupSeries) -> dict[str, Any]:
    duration = None
    if group.duration_ns is not None and group.profiles is not None:
        duration = group.duration_ns / max(group.profiles, 1) / 1e9
    return {
        "total": group.total,
        "profiles": group.profiles,
        "duration_s": duration,
        "totals": group.totals,
    }
