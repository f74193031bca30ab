"""Time, value and labels of single profiles, without their call trees."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import orjson
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from numpy.typing import NDArray

from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.metrics import Metric
from profiles.engine.timestamps import micros
from profiles.models import Profile
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_by_pk
from profiles.queries.merge_query import ProfilesQuery
from profiles.queries.plan import QueryPlan
from profiles.queries.scan import find_total, open_plan
from profiles.queries.scan_input import profile_facts
from profiles.queries.selection import ProfileSelection, View

# Names of a deployment's properties in `by`; other names are those of profile labels.
_OF_DEPLOYMENT = ("zone", "version")
_HEAD_ROWS_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class ProfileValuesResult:
    """Time and value of P profiles, grouped by the values of labels; each array is int64 [P]."""

    selection: ProfileSelection
    metric: Metric
    coverage: Coverage  # reports unreadable profiles only
    time: NDArray[np.int64]  # µs since 1970
    value: NDArray[np.int64]
    group: NDArray[np.int64]  # index of `groups`
    groups: tuple[tuple[str, ...], ...]  # values of the labels; "" for a label that is absent


def run_profile_values(
    context: QueryContext, selection: ProfileSelection, view: View, group_by: Sequence[str] = ()
) -> ProfileValuesResult:
    """Return the value of each matching profile in the view's metric, grouped by labels.

    `group_by` names labels, or `zone` and `version`. Profiles without the metric are left out. The
    view's filters and shape are ignored.
    """
    labels = [name for name in group_by if name not in _OF_DEPLOYMENT]
    with context.snapshot:
        metric, _, (part, keys, stats) = _ValuesQuery(selection, view, tuple(labels)).run(context)
        deployments = deployments_by_pk(context, {pk for pk, _ in keys})
    context.check()
    values: list[tuple[str, ...]] = []
    for pk, found in keys:
        each = deployments.get(pk)
        named = dict(zip(labels, found, strict=True))
        named |= {"zone": each.zone if each else "", "version": each.version if each else ""}
        values.append(tuple(named[name] for name in group_by))
    distinct = {value: i for i, value in enumerate(dict.fromkeys(values))}
    renumbered = np.array([distinct[value] for value in values], np.int64)
    return ProfileValuesResult(
        selection=selection,
        metric=metric,
        coverage=stats.coverage(),
        time=part.time,
        value=part.value,
        group=renumbered[part.group] if len(renumbered) else part.group,
        groups=tuple(distinct),
    )


class _Part(NamedTuple):
    """Columns of some profiles, each int64 [P]."""

    time: NDArray[np.int64]  # µs since 1970
    value: NDArray[np.int64]
    group: NDArray[np.int64]


class _GroupedValues(NamedTuple):
    part: _Part
    keys: list[tuple[int, tuple[str, ...]]]  # Deployment.pk and values of the labels, by group
    stats: ScanStats


@dataclass(frozen=True)
class _ValuesQuery(ProfilesQuery[_GroupedValues]):
    """Values of all matching profiles, grouped by deployment and labels of profiles."""

    selection: ProfileSelection
    view: View
    labels: tuple[str, ...]

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> _GroupedValues:
        groups, stats = _Groups(), ScanStats()
        head, blocks = open_plan(context, plan, metric)
        parts = [_read_head(head, self.selection.type.value, metric, self.labels, groups)]
        context.check()
        for _, columns, matching in profile_facts(context, blocks, stats):
            if metric not in columns.metrics:
                continue
            k = columns.metrics.index(metric)
            rows = matching[columns.has[k][matching]]
            sets = [
                tuple(dict(each).get(name, "") for name in self.labels)
                for each in columns.label_sets
            ]
            numbers = groups.numbers(columns.deployment[rows], columns.label_set[rows], sets)
            parts.append(_Part(columns.time[rows], columns.totals[k][rows], numbers))
        part = _Part(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        return _GroupedValues(part, groups.keys, stats)


class _Groups:
    """Distinct pairs of a deployment and the values of the labels, numbered."""

    def __init__(self) -> None:
        self.keys: list[tuple[int, tuple[str, ...]]] = []
        self._numbers: dict[tuple[int, tuple[str, ...]], int] = {}

    def number(self, deployment: int, values: tuple[str, ...]) -> int:
        key = deployment, values
        if key not in self._numbers:
            self._numbers[key] = len(self.keys)
            self.keys.append(key)
        return self._numbers[key]

    def numbers(
        self,
        deployment: NDArray[np.int64],
        label_set: NDArray[np.int32],
        sets: Sequence[tuple[str, ...]],
    ) -> NDArray[np.int64]:
        """Return the number of each profile; `sets` has the values of each label set."""
        pairs = np.stack([deployment, label_set.astype(np.int64)], axis=1)
        distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
        own = [self.number(pk, sets[i]) for pk, i in distinct.tolist()]
        numbered: NDArray[np.int64] = np.array(own, np.int64)[inverse.reshape(-1)]
        return numbered


def _read_head(
    rows: "QuerySet[Profile]",
    profile_type: str,
    metric: Metric,
    labels: Sequence[str],
    groups: _Groups,
) -> _Part:
    columns = rows.order_by().values_list(
        "time", "deployment_id", Cast("labels", TextField()), "totals"
    )
    found: list[tuple[int, int, int]] = []
    parsed: dict[str, tuple[str, ...]] = {}  # few texts are distinct
    for time, deployment, text, totals in columns.iterator(chunk_size=_HEAD_ROWS_AT_ONCE):
        total = find_total(totals, metric, profile_type)
        if not isinstance(total, int):
            continue
        if text not in parsed:
            parsed[text] = _values(orjson.loads(text), labels)
        found.append((micros(time), total, groups.number(deployment, parsed[text])))
    return _Part(*np.array(found, np.int64).reshape(-1, 3).T)


def _values(labels_by_name: Mapping[str, Any], labels: Iterable[str]) -> tuple[str, ...]:
    return tuple(labels_by_name.get(name, "") for name in labels)
