"""Builder of day blocks: hour blocks summed by deployment and label set."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.builder import MAX_NODES, Builder
from profiles.engine.blocks.day import ALL_LABELS, KIND, Groups
from profiles.engine.blocks.hour import HourBlock
from profiles.engine.blocks.row_variance import GroupVariance, row_variance
from profiles.engine.blocks.rows import enter_used, read_sparse_values, spread
from profiles.engine.blocks.sections.container import write
from profiles.engine.blocks.sections.dictionary import Dictionary, write_dictionary
from profiles.engine.blocks.sections.packed_columns import Column, pack
from profiles.engine.blocks.sections.profile_columns import (
    ProfileColumns,
    join_profile_columns,
    write_profiles,
)
from profiles.engine.blocks.sections.sample_labels import (
    LabelledValues,
    join_labelled_values,
    write_labelled,
)
from profiles.engine.blocks.sections.variance import write_variance
from profiles.engine.blocks.sparse_rows import add_table
from profiles.engine.blocks.sparse_values import SparseValues, summable, write_sparse_values
from profiles.engine.hashing import SumTable

MAX_LABEL_SETS = 64  # distinct label sets; beyond this, groups are by deployment only
MAX_VARIANCE_ROWS = 2**21  # groups × nodes; at most row_variance.MAX_NODES
_NODE_BITS = np.uint64(2**32 - 1)


class _Hour(NamedTuple):
    """Hour block with its positions in the day block."""

    block: HourBlock
    day_node: NDArray[np.int32]  # [L], day block's line node for each line node of the hour block
    group: NDArray[np.int32]  # [R], group of each profile of the hour block


def build_day(hours: Sequence[HourBlock], max_nodes: int = MAX_NODES) -> bytes:
    """Build a day block of all profiles of the hour blocks, which may cover any time ranges.

    Raise `BadBlock` if an hour block cannot be read, and `TooLarge` (max_nodes) if the blocks have
    more than `max_nodes` line nodes together.
    """
    builder = Builder(max_nodes)
    every = [np.arange(len(hour.node_of_line), dtype=np.int32) for hour in hours]
    builder_nodes = [
        enter_used(builder, hour, lines) for hour, lines in zip(hours, every, strict=True)
    ]
    dictionary, line_node = builder.finish()
    profiles = join_profile_columns([hour.profiles for hour in hours])
    groups = _groups(profiles)
    cuts = np.cumsum([len(hour.profiles) for hour in hours])[:-1]
    parts = [
        _Hour(hour, line_node[entered], group)
        for hour, entered, group in zip(
            hours, builder_nodes, np.split(groups.of_profile, cuts), strict=True
        )
    ]
    order = np.lexsort((profiles.weight, profiles.agent, profiles.deployment, profiles.time))
    groups = Groups(groups.deployment, groups.label_set, groups.of_profile[order])
    return _written(dictionary, profiles.take(order), groups, parts)


def _written(
    dictionary: Dictionary, profiles: ProfileColumns, groups: Groups, hours: list[_Hour]
) -> bytes:
    count = len(groups.deployment)
    sparse_values, passing = _sparse_values(hours, profiles, count)
    labelled = _sum_labelled(hours, profiles, passing)
    variance = _variance(hours, dictionary, profiles, count)
    cuts, value_sections = write_sparse_values(sparse_values, "cells")
    head = {
        "metrics": [[*metric] for metric in profiles.metrics],
        "profiles": len(profiles),
        "rows": count,
        "cuts": cuts,
        "by_labels": bool((groups.label_set != ALL_LABELS).all()),
        "moments": variance is not None,
        "passing": sorted(passing),
    }
    columns: list[Column] = [groups.deployment, groups.label_set + 1, groups.of_profile]
    sections = {
        "profiles": write_profiles(profiles),
        "groups": pack({}, columns),
        **write_dictionary(dictionary),
        **value_sections,
        **({"labels": write_labelled(labelled)} if len(labelled.row) else {}),
        **{
            f"moments.{k}": write_variance(of_metric, dictionary.tree)
            for k, of_metric in enumerate(variance or ())
        },
    }
    return write(KIND, head, sections)


def _groups(profiles: ProfileColumns) -> Groups:
    by_labels = len(np.unique(profiles.label_set)) <= MAX_LABEL_SETS
    label_set = profiles.label_set if by_labels else np.full(len(profiles), ALL_LABELS, np.int32)
    pairs = np.stack([profiles.deployment, label_set.astype(np.int64)])
    distinct, of_profile = np.unique(pairs, axis=1, return_inverse=True)
    return Groups(distinct[0], distinct[1].astype(np.int32), of_profile.ravel().astype(np.int32))


def _sparse_values(
    hours: list[_Hour], profiles: ProfileColumns, groups: int
) -> tuple[SparseValues, set[int]]:
    """Sum values by group and line node; return the sums and the metrics that exceed 64 bits.

    The values of those metrics are all zero in the result.
    """
    metrics = profiles.metrics
    sums = SumTable(len(metrics), 2**30, "rows of a day block")
    parts = [(hour, read_sparse_values(hour.block, None)) for hour in hours]
    values = [
        spread(sparse_values.values, hour.block.metrics, metrics) for hour, sparse_values in parts
    ]
    passing = {
        k for k in range(len(metrics)) if not summable(np.concatenate([v[k] for v in values]))
    }
    for (hour, sparse_values), of_hour in zip(parts, values, strict=True):
        summed = [k for k in range(len(metrics)) if k not in passing]
        group = np.repeat(hour.group, np.diff(sparse_values.starts)).astype(np.uint64)
        keys = group << np.uint64(32) | hour.day_node[sparse_values.node].astype(np.uint64)
        sums.add_rows(keys, of_hour[summed], np.array(summed, np.int32))
    keys, table = sums.table()
    order = np.argsort(keys)
    starts = np.searchsorted(keys[order] >> np.uint64(32), np.arange(groups + 1, dtype=np.uint64))
    node = (keys[order] & _NODE_BITS).astype(np.int32)
    return SparseValues(starts.astype(np.int64), node, table[:, order]), passing


def _sum_labelled(
    hours: list[_Hour], profiles: ProfileColumns, passing: set[int]
) -> LabelledValues:
    """Sum the values with sample labels by group; metrics in `passing` become zero."""
    metrics = profiles.metrics
    parts = []
    for hour in hours:
        if hour.block.labelled:
            part = hour.block.labelled.renumber(hour.group.astype(np.int64), hour.day_node)
            parts.append(part.with_values(spread(part.values, hour.block.metrics, metrics)))
    return join_labelled_values(parts, len(metrics)).sum_equal(passing)


def _variance(
    hours: list[_Hour], dictionary: Dictionary, profiles: ProfileColumns, groups: int
) -> list[GroupVariance] | None:
    """Compute the sums of squares and the counts of each metric.

    Return None if groups × nodes exceeds MAX_VARIANCE_ROWS.
    """
    nodes, functions = len(dictionary.tree.parent), len(dictionary.functions.id)
    if groups * nodes > MAX_VARIANCE_ROWS:
        return None
    return [
        _build_variance(hours, dictionary, metric, (groups, nodes, functions))
        for metric in profiles.metrics
    ]


def _build_variance(
    hours: list[_Hour], dictionary: Dictionary, metric: object, shape: tuple[int, int, int]
) -> GroupVariance:
    groups, nodes, functions = shape
    sums = GroupVariance(
        np.zeros((groups, nodes)), np.zeros((groups, nodes)), np.zeros((groups, 4, functions))
    )
    for hour in hours:
        if metric in hour.block.metrics:
            _add_variance(sums, hour, dictionary, hour.block.metrics.index(metric))
    return sums


def _add_variance(sums: GroupVariance, hour: _Hour, dictionary: Dictionary, metric: int) -> None:
    """Add the sums of squares and the counts of one hour block to those of the day.

    Groups, nodes and functions are distinct within an hour block, so each position is added to
    once.
    """
    here, group = np.unique(hour.group, return_inverse=True)
    found = row_variance(hour.block, metric, group.astype(np.int32), len(here))
    first = hour.day_node[hour.block.tree.first_line[:-1]]
    node = dictionary.tree.node_of_line()[first].astype(np.int64)
    rows = here.astype(np.int64)
    add_table(sums.square, rows, node, found.square)
    add_table(sums.present, rows, node, found.present)
    ids = dictionary.functions.id
    by_id = np.argsort(ids)
    function = by_id[np.searchsorted(ids, hour.block.functions.id, sorter=by_id)]
    for column in range(4):
        add_table(sums.functions[:, column], rows, function, found.functions[:, column])
