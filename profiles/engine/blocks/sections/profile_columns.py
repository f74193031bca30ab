"""Columns with the metadata of a block's profiles: everything except their call trees."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.sections.container import Container
from profiles.engine.blocks.sections.decoded_columns import Arrays
from profiles.engine.blocks.sections.packed_columns import PackedColumnReader, pack
from profiles.engine.encoding.json_header import read_metrics
from profiles.engine.metrics import Metric

LabelSet = tuple[tuple[str, str], ...]  # of a profile: (name, value), sorted
NO_AGENT = -1
_IN_HEAD = ("metrics", "label_sets")  # fields of ProfileColumns that are not arrays


@dataclass(frozen=True, slots=True)
class BlockProfile:
    """Stored profile to be added to a block."""

    name_id: str
    time: int  # µs since 1970, UTC: its start
    time_source: str
    deployment: int
    agent: int | None
    duration_ns: int
    weight: int
    samples: int
    labels: Mapping[str, str]
    totals: Sequence[tuple[str, str, int]]  # (metric name, unit, total)
    body_hash: bytes
    tree: bytes  # encoded by codec.encode


@dataclass(frozen=True, slots=True)
class ProfileColumns:
    """Metadata of P profiles; in a block they are sorted by time, then name."""

    metrics: tuple[Metric, ...]  # [K], in order
    time: NDArray[np.int64]  # [P], µs since 1970, UTC
    deployment: NDArray[np.int64]  # [P]
    agent: NDArray[np.int64]  # [P], NO_AGENT if unknown
    duration_ns: NDArray[np.int64]  # [P]
    weight: NDArray[np.int64]  # [P]
    samples: NDArray[np.int64]  # [P]
    label_sets: tuple[LabelSet, ...]
    label_set: NDArray[np.int32]  # [P]
    totals: NDArray[np.int64]  # [K, P], 0 if a profile lacks the metric
    has: NDArray[np.bool_]  # [K, P], whether the profile has the metric
    first_metric: NDArray[np.int32]  # [P], index of the profile's default metric, its first

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: NDArray[np.int64]) -> "ProfileColumns":
        """Return the given rows, in this order."""
        return ProfileColumns(
            metrics=self.metrics,
            time=self.time[rows],
            deployment=self.deployment[rows],
            agent=self.agent[rows],
            duration_ns=self.duration_ns[rows],
            weight=self.weight[rows],
            samples=self.samples[rows],
            label_sets=self.label_sets,
            label_set=self.label_set[rows],
            totals=self.totals[:, rows],
            has=self.has[:, rows],
            first_metric=self.first_metric[rows],
        )


def build_profile_columns(profiles: Sequence[BlockProfile]) -> ProfileColumns:
    """Return the metadata of profiles as columns, in the given order."""
    metrics = tuple(sorted({Metric(n, u) for profile in profiles for n, u, _ in profile.totals}))
    label_sets: dict[LabelSet, int] = {}
    label_set = [
        label_sets.setdefault(tuple(sorted(p.labels.items())), len(label_sets)) for p in profiles
    ]
    totals = np.zeros((len(metrics), len(profiles)), np.int64)
    has = np.zeros((len(metrics), len(profiles)), bool)
    first = np.zeros(len(profiles), np.int32)
    for row, profile in enumerate(profiles):
        for name, unit, total in reversed(profile.totals):
            first[row] = index = metrics.index(Metric(name, unit))
            totals[index, row], has[index, row] = total, True
    return ProfileColumns(
        metrics=metrics,
        time=_numbers(p.time for p in profiles),
        deployment=_numbers(p.deployment for p in profiles),
        agent=_numbers(NO_AGENT if p.agent is None else p.agent for p in profiles),
        duration_ns=_numbers(p.duration_ns for p in profiles),
        weight=_numbers(p.weight for p in profiles),
        samples=_numbers(p.samples for p in profiles),
        label_sets=tuple(label_sets),
        label_set=np.array(label_set, np.int32),
        totals=totals,
        has=has,
        first_metric=first,
    )


def _numbers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(values, np.int64)


def join_profile_columns(parts: Sequence[ProfileColumns]) -> ProfileColumns:
    """Concatenate profiles, over the union of their metrics and the label sets in use."""
    metrics = tuple(sorted({metric for part in parts for metric in part.metrics}))
    label_sets: dict[LabelSet, int] = {}
    sets, totals, has, first = [], [], [], []
    for part in parts:
        numbers = np.array(
            [
                label_sets.setdefault(part.label_sets[i], len(label_sets))
                for i in np.unique(part.label_set).tolist()
            ],
            np.int32,
        )
        sets.append(numbers[np.unique(part.label_set, return_inverse=True)[1]])
        rows = np.array([metrics.index(metric) for metric in part.metrics], np.int32)
        totals.append(_spread(part.totals, rows, len(metrics)))
        has.append(_spread(part.has, rows, len(metrics)))
        first.append(rows[part.first_metric] if len(rows) else part.first_metric)
    return ProfileColumns(
        metrics=metrics,
        time=np.concatenate([part.time for part in parts]),
        deployment=np.concatenate([part.deployment for part in parts]),
        agent=np.concatenate([part.agent for part in parts]),
        duration_ns=np.concatenate([part.duration_ns for part in parts]),
        weight=np.concatenate([part.weight for part in parts]),
        samples=np.concatenate([part.samples for part in parts]),
        label_sets=tuple(label_sets),
        label_set=np.concatenate(sets),
        totals=np.concatenate(totals, axis=1),
        has=np.concatenate(has, axis=1),
        first_metric=np.concatenate(first),
    )


def _spread(table: NDArray[Any], rows: NDArray[np.int32], height: int) -> NDArray[Any]:
    """Return a table of `height` rows that has `table` at `rows` and zeros elsewhere."""
    spread = np.zeros((height, table.shape[1]), table.dtype)
    spread[rows] = table
    return spread


def write_profiles(profiles: ProfileColumns) -> bytes:
    head = {
        "metrics": [[*metric] for metric in profiles.metrics],
        "label_sets": [[[*label] for label in labels] for labels in profiles.label_sets],
    }
    time = profiles.time
    # The weight is usually the total of the default metric: the stored column is then all zeros.
    default = np.zeros(len(time), np.int64)
    if profiles.metrics:
        default = profiles.totals[profiles.first_metric, np.arange(len(time))]
    columns = [
        np.diff(time, prepend=time[:1]),
        time[:1],
        profiles.deployment,
        profiles.agent,
        profiles.duration_ns,
        profiles.weight - default,
        profiles.samples,
        profiles.label_set,
        profiles.first_metric,
        *profiles.totals,
        *profiles.has.astype(np.uint8),
    ]
    return pack(head, columns)


def read_profiles(
    container: Container, count: int, expected_metrics: tuple[Metric, ...]
) -> ProfileColumns:
    """Read the section `profiles`, which must have `count` profiles and these metrics."""
    columns = container.read("profiles", partial(_decode_profiles, count, expected_metrics))
    names = [each.name for each in fields(ProfileColumns)]
    arrays = dict(
        zip([name for name in names if name not in _IN_HEAD], columns.arrays, strict=True)
    )
    label_sets = _read_label_sets(columns.head)
    return ProfileColumns(metrics=expected_metrics, label_sets=label_sets, **arrays)


def _read_label_sets(head: Mapping[str, Any]) -> tuple[LabelSet, ...]:
    return tuple(
        tuple((str(name), str(value)) for name, value in labels) for labels in head["label_sets"]
    )


def _decode_profiles(
    count: int, expected_metrics: tuple[Metric, ...], columns: PackedColumnReader
) -> Arrays:
    """Return the arrays of ProfileColumns, in the order of its fields."""
    metrics = read_metrics(columns.head["metrics"])
    if metrics != expected_metrics:
        raise ValueError("metrics differ from those of the block")
    label_sets = _read_label_sets(columns.head)
    steps = columns.values(count)
    start = columns.values(min(count, 1))
    time = np.cumsum(steps) + (start if count else 0)
    deployment, agent = columns.values(count), columns.values(count)
    duration, weight, samples = (columns.values(count) for _ in range(3))
    label_set = columns.index(len(label_sets), count)
    first = columns.index(max(len(metrics), 1), count)
    totals = np.array([columns.values(count) for _ in metrics], np.int64)
    totals = totals.reshape(len(metrics), count)
    has = np.array([columns.index(2, count) for _ in metrics], bool).reshape(len(metrics), count)
    if metrics:
        weight += totals[first, np.arange(count)]
    return time, deployment, agent, duration, weight, samples, label_set, totals, has, first
