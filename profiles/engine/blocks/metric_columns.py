"""Metrics of a block, and the stored columns that make up each of them.

A block stores metrics under the names that its profiles were uploaded with. If one metric has
several names (`CPU` from one agent, `cpu` from another), each profile has a value in one of these
columns only, so the metric is the sum of the columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.sections.profile_columns import ProfileColumns
from profiles.engine.errors import BadProfile
from profiles.engine.metrics import Metric, canonical


@dataclass(frozen=True, slots=True)
class MetricColumns:
    """K metrics, each the sum of one or several stored columns."""

    metrics: tuple[Metric, ...]  # [K]
    stored: tuple[tuple[int, ...], ...]  # [K], indexes of stored metrics

    @property
    def is_plain(self) -> bool:
        """Return True if each metric is exactly one stored column, in the same order."""
        return all(columns == (k,) for k, columns in enumerate(self.stored))

    def sum_columns(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sum a table [stored, N] to [K, N]. Raise `BadProfile` if a sum exceeds 64 bits."""
        if self.is_plain:
            return table
        rows = [add_columns([table[k] for k in columns]) for columns in self.stored]
        return np.array(rows, np.int64).reshape(len(rows), table.shape[1])

    def convert_profiles(self, profiles: ProfileColumns) -> ProfileColumns:
        """Return the profile columns with these metrics instead of the stored ones."""
        if self.is_plain:
            return replace(profiles, metrics=self.metrics)
        metric_of_column = np.zeros(len(profiles.metrics), np.int32)
        for k, columns in enumerate(self.stored):
            metric_of_column[list(columns)] = k
        has = [profiles.has[list(columns)].any(axis=0) for columns in self.stored]
        return replace(
            profiles,
            metrics=self.metrics,
            totals=self.sum_columns(profiles.totals),
            has=np.array(has, bool).reshape(len(has), len(profiles)),
            first_metric=metric_of_column[profiles.first_metric],
        )


def metric_columns(
    profile_type: str, stored: tuple[Metric, ...], profiles: Callable[[], ProfileColumns]
) -> MetricColumns:
    """Group the stored metrics that have the same canonical name.

    If any profile has two metrics of one group, one of them is misnamed, and all metrics stay
    separate; `profiles` is called only to check this. Without a profile type all metrics stay
    separate.
    """
    groups: dict[Metric, list[int]] = {}
    for k, metric in enumerate(stored):
        groups.setdefault(canonical(profile_type, (metric,))[0], []).append(k)
    if any(len(columns) > 1 and _meet(profiles(), columns) for columns in groups.values()):
        groups = {metric: [k] for k, metric in enumerate(canonical(profile_type, stored))}
    return MetricColumns(tuple(groups), tuple(map(tuple, groups.values())))


def _meet(profiles: ProfileColumns, columns: Sequence[int]) -> bool:
    return bool((profiles.has[columns].sum(axis=0) > 1).any())


def add_columns(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Add columns of equal length. Raise `BadProfile` if a sum exceeds 64 bits."""
    total = columns[0]
    for column in columns[1:]:
        before, total = total, total + column
        if (((before ^ total) & (column ^ total)) < 0).any():
            raise BadProfile("The sum of the values exceeds 64 bits.")
    return total
