"""Builder of day blocks: hour blocks summed by deployment and label set.

The hour blocks are read one chunk after another, and again for each part of the day block, so that
memory is that of the nodes and of one part, whatever the number of profiles.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.builder import MAX_NODES, Builder
from profiles.engine.blocks.day import ALL_LABELS, KIND, Groups
from profiles.engine.blocks.hour import HourBlock
from profiles.engine.blocks.row_variance import GroupVariance, row_variance
from profiles.engine.blocks.rows import enter_used, limit_labelled_numbers, spread
from profiles.engine.blocks.sections.container import SectionWriter
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
from profiles.engine.blocks.sparse_values import (
    MAX_SUM,
    Chunk,
    Rows,
    SparseValues,
    cut,
    sum_magnitudes,
    take_rows,
    write_chunk,
)
from profiles.engine.errors import BadProfile
from profiles.engine.hashing import SumTable
from profiles.engine.metrics import Metric

MAX_LABEL_SETS = 64  # distinct label sets; beyond this, groups are by deployment only
MAX_VARIANCE_ROWS = 2**21  # groups × nodes; at most row_variance.MAX_NODES
# Sums of all metrics in the table that is filled by one pass over the hour blocks: some 20 MB.
MAX_SUMMED_NUMBERS = 2**19
_NODE_BITS = np.uint64(2**32 - 1)


class _Hour(NamedTuple):
    """Hour block with its positions in the day block."""

    block: HourBlock  # without columns: each use reads them by a copy
    day_node: NDArray[np.int32]  # [L], day block's line node for each line node of the hour block
    group: NDArray[np.int32]  # [R], group of each profile of the hour block


def build_day(hours: Sequence[HourBlock], max_nodes: int = MAX_NODES) -> bytes:
    """Build a day block of all profiles of the hour blocks, which may cover any time ranges.

    Raise `BadBlock` if an hour block cannot be read, and `TooLarge` (max_nodes,
    max_labelled_numbers) if the blocks have more than `max_nodes` line nodes together, or too many
    values with sample labels.
    """
    builder = Builder(max_nodes)
    hours = [hour.copy_without_columns() for hour in hours]
    builder_nodes, columns = [], []
    for hour in hours:
        block = hour.copy_without_columns()
        every = np.ones(len(block.node_of_line), np.uint8)
        builder_nodes.append(enter_used(builder, block, every))
        columns.append(block.profiles)
    dictionary, line_node = builder.finish()
    del builder
    profiles = join_profile_columns(columns)
    groups = _groups(profiles)
    cuts = np.cumsum([len(each) for each in columns])[:-1]
    parts = [
        _Hour(hour, line_node[entered], group)
        for hour, entered, group in zip(
            hours, builder_nodes, np.split(groups.of_profile, cuts), strict=True
        )
    ]
    del builder_nodes, columns
    samples = np.zeros(len(groups.deployment))
    np.add.at(samples, groups.of_profile, profiles.samples)
    order = np.lexsort((profiles.weight, profiles.agent, profiles.deployment, profiles.time))
    groups = Groups(groups.deployment, groups.label_set, groups.of_profile[order])
    return _write(dictionary, profiles.take(order), groups, parts, samples)


def _write(
    dictionary: Dictionary,
    profiles: ProfileColumns,
    groups: Groups,
    hours: Sequence[_Hour],
    samples: NDArray[np.float64],
) -> bytes:
    count, metrics = len(groups.deployment), profiles.metrics
    nodes = len(dictionary.lines.parent)
    batches = _divide_groups(np.minimum(samples, nodes) * len(metrics))
    writer = SectionWriter()
    writer.add("profiles", write_profiles(profiles))
    columns: list[Column] = [groups.deployment, groups.label_set + 1, groups.of_profile]
    writer.add("groups", pack({}, columns))
    writer.add_all(write_dictionary(dictionary))
    cuts, passing = _write_values(writer, hours, metrics, batches)
    labelled = _sum_labelled(hours, metrics, passing)
    if len(labelled.row):
        writer.add("labels", write_labelled(labelled))
    del labelled
    has_variance = count * len(dictionary.tree.parent) <= MAX_VARIANCE_ROWS
    if has_variance:
        _write_variance(writer, hours, dictionary, metrics, count)
    head = {
        "metrics": [[*metric] for metric in metrics],
        "profiles": len(profiles),
        "rows": count,
        "cuts": cuts,
        "by_labels": bool((groups.label_set != ALL_LABELS).all()),
        "moments": has_variance,
        "passing": sorted(passing),
    }
    return writer.encode(KIND, head)


def _groups(profiles: ProfileColumns) -> Groups:
    by_labels = len(np.unique(profiles.label_set)) <= MAX_LABEL_SETS
    label_set = profiles.label_set if by_labels else np.full(len(profiles), ALL_LABELS, np.int32)
    pairs = np.stack([profiles.deployment, label_set.astype(np.int64)])
    distinct, of_profile = np.unique(pairs, axis=1, return_inverse=True)
    return Groups(distinct[0], distinct[1].astype(np.int32), of_profile.ravel().astype(np.int32))


def _divide_groups(numbers: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Divide the groups, with at most so many sums each, for one pass over the hours each."""
    batches: list[tuple[int, int]] = []
    first, total = 0, 0.0
    for group, count in enumerate(numbers.tolist()):
        if group > first and total + count > MAX_SUMMED_NUMBERS:
            batches.append((first, group))
            first, total = group, 0.0
        total += count
    return [*batches, (first, len(numbers))]


def _write_values(
    writer: SectionWriter,
    hours: Sequence[_Hour],
    metrics: Sequence[Metric],
    batches: Sequence[tuple[int, int]],
) -> tuple[list[int], set[int]]:
    """Write the sums by group and line node as sections `cells…`.

    Return the chunk boundaries for the directory, and the metrics that exceed 64 bits: their values
    are all zero.
    """
    passing = set[int]()
    values = SectionWriter()
    try:
        cuts, magnitudes = _write_batches(values, hours, metrics, batches, passing)
    except BadProfile:  # a sum exceeds 64 bits
        magnitudes = _sum_magnitudes(hours, metrics)
    passing = {k for k, magnitude in enumerate(magnitudes) if magnitude > MAX_SUM}
    if passing:
        values = SectionWriter()
        cuts, _ = _write_batches(values, hours, metrics, batches, passing)
    writer.append(values)
    return cuts, passing


def _write_batches(
    writer: SectionWriter,
    hours: Sequence[_Hour],
    metrics: Sequence[Metric],
    batches: Sequence[tuple[int, int]],
    passing: set[int],
) -> tuple[list[int], list[int]]:
    """Write the sums of metrics that are not in `passing`; return the cuts and the magnitudes."""
    cuts, magnitudes = [0], [0] * len(metrics)
    for first, last in batches:
        sums = _sum_groups(hours, metrics, (first, last), passing, magnitudes)
        for begin, end in pairwise(cut(sums.starts, len(metrics))):
            rows = np.arange(begin, end)
            write_chunk(writer, f"cells{len(cuts) - 1}", take_rows(sums, rows))
            cuts.append(first + end)
    return cuts, magnitudes


def _sum_groups(
    hours: Sequence[_Hour],
    metrics: Sequence[Metric],
    batch: tuple[int, int],
    passing: set[int],
    magnitudes: list[int],
) -> SparseValues:
    """Sum the values of a range of groups by line node, and add their magnitudes.

    Raise `BadProfile` if a sum exceeds 64 bits.
    """
    first, last = batch
    sums = SumTable(len(metrics), 2**30, "rows of a day block")
    summed = np.array([k for k in range(len(metrics)) if k not in passing], np.int32)
    for hour in hours:
        marked = (hour.group >= first) & (hour.group < last)
        for chunk, found, marks in _read_chunks(hour, metrics, marked):
            group = np.repeat(hour.group[chunk.first : chunk.last][marks] - first, _lengths(found))
            for k in range(len(metrics)):
                magnitudes[k] += sum_magnitudes(found.values[k])
            keys = group.astype(np.uint64) << np.uint64(32)
            keys |= hour.day_node[found.node].astype(np.uint64)
            sums.add_rows(keys, found.values[summed], summed)
    keys, table = sums.table()
    del sums
    order = np.argsort(keys)
    keys = keys[order]
    groups = np.arange(last - first + 1, dtype=np.uint64)
    starts = np.searchsorted(keys >> np.uint64(32), groups)
    node = (keys & _NODE_BITS).astype(np.int32)
    return SparseValues(starts.astype(np.int64), node, table[:, order])


def _sum_magnitudes(hours: Sequence[_Hour], metrics: Sequence[Metric]) -> list[int]:
    magnitudes = [0] * len(metrics)
    for hour in hours:
        for _, found, _ in _read_chunks(hour, metrics, np.ones(len(hour.group), bool)):
            for k in range(len(metrics)):
                magnitudes[k] += sum_magnitudes(found.values[k])
    return magnitudes


def _read_chunks(
    hour: _Hour, metrics: Sequence[Metric], marked: Rows
) -> Iterator[tuple[Chunk, SparseValues, Rows]]:
    """Yield the marked rows of each chunk, with values of all metrics of the day, and the marks."""
    block = hour.block.copy_without_columns()
    every = range(len(block.metrics))
    for chunk in block.sparse_values.chunks:
        marks = marked[chunk.first : chunk.last]
        if marks.any():
            found = block.sparse_values.decode(chunk, every)
            if not marks.all():
                found = take_rows(found, np.flatnonzero(marks))
            values = spread(found.values, block.metrics, metrics)
            yield chunk, SparseValues(found.starts, found.node, values), marks


def _lengths(sparse_values: SparseValues) -> NDArray[np.int64]:
    return np.diff(sparse_values.starts)


def _sum_labelled(
    hours: Sequence[_Hour], metrics: Sequence[Metric], passing: set[int]
) -> LabelledValues:
    """Sum the values with sample labels by group; metrics in `passing` become zero."""
    summed = join_labelled_values([], len(metrics))
    for hour in hours:
        labelled = hour.block.copy_without_columns().labelled
        if labelled:
            part = labelled.renumber(hour.group.astype(np.int64), hour.day_node)
            part = part.with_values(spread(part.values, hour.block.metrics, metrics))
            limit_labelled_numbers([summed, part])
            summed = join_labelled_values([summed, part], len(metrics)).sum_equal(passing)
    return summed


def _write_variance(
    writer: SectionWriter,
    hours: Sequence[_Hour],
    dictionary: Dictionary,
    metrics: Sequence[Metric],
    groups: int,
) -> None:
    """Write the sums of squares and the counts of each metric."""
    shape = groups, len(dictionary.tree.parent), len(dictionary.functions.id)
    for k, metric in enumerate(metrics):
        variance = _build_variance(hours, dictionary, metric, shape)
        writer.add(f"moments.{k}", write_variance(variance, dictionary.tree))


def _build_variance(
    hours: Sequence[_Hour], dictionary: Dictionary, metric: Metric, shape: tuple[int, int, int]
) -> GroupVariance:
    groups, nodes, functions = shape
    sums = GroupVariance(
        np.zeros((groups, nodes)), np.zeros((groups, nodes)), np.zeros((groups, 4, functions))
    )
    for hour in hours:
        block = hour.block.copy_without_columns()
        if metric in block.metrics:
            _add_variance(sums, hour._replace(block=block), dictionary, block.metrics.index(metric))
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
