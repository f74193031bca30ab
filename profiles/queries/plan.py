"""First stage of a query: the head rows and blocks to read for a selection.

The statements with which most queries begin are written by hand, because Django's ORM takes more
CPU time to build them than the database takes to execute them. Their texts contain no user input.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from itertools import count
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from profiles.engine.blocks import RowFilter
from profiles.engine.metrics import DEFAULT_METRICS, SECOND_CHOICE, Metric, canonical, normalise
from profiles.engine.timestamps import micros
from profiles.models import Blob, Block, Profile, Resolution
from profiles.queries.context import QueryContext
from profiles.queries.deployments import matching_deployments
from profiles.queries.selection import MetricNotFound, ProfileSelection, Selection, View
from profiles.storage.blob_store import BlockLocation

LONGEST = timedelta(days=1)  # greatest time range of a block
CLOSED = timedelta(hours=1)  # this long after a range's end, hardly any more profiles arrive
NEWEST_ROWS = 50  # head rows to read metrics from: a service's metrics rarely change
NEWEST_BLOCKS = 5  # blocks to read metrics from

Totals = Sequence[tuple[str, str, int]]  # Profile.totals

_BLOCKS, _BLOBS = Block._meta.db_table, Blob._meta.db_table
_NEWEST_TOTALS = (
    f"SELECT totals FROM {Profile._meta.db_table} "  # noqa: S608
    "WHERE project_id = %s AND service = %s AND type = %s AND time >= %s AND time < %s "
    "ORDER BY time DESC LIMIT %s"
)
_BLOCK_ROWS = (
    'SELECT b.id, b.service, b.type, b.resolution, b.start, b."end", b.last, k.key, '  # noqa: S608
    'b."offset", b.length, b.profiles, {summary} '
    f"FROM {_BLOCKS} b JOIN {_BLOBS} k ON k.id = b.blob_id "
    "WHERE b.project_id = %s AND b.service = %s AND b.type = %s "
    f"AND b.resolution IN ('{Resolution.DAY}', '{Resolution.PROFILE}') "
    'AND b.start > %s AND b."end" > %s AND b.start < %s AND ({condition})'
)
# The parameter before the range is its start minus LONGEST: the lower bound of the index scan.
_SUMMARY_FIELDS = ("by_labels", "moments", "metrics")
_JSON_FIELD = {"postgresql": "b.summary -> '{}'", "sqlite": "json_extract(b.summary, '$.{}')"}
_BLOCK_ROWS_AT_ONCE = 200
_HOURS = f"b.resolution = '{Resolution.PROFILE}'"
_LARGEST = (
    f"b.resolution = '{Resolution.DAY}' AND b.start >= %s AND b.\"end\" <= %s "  # noqa: S608
    f"OR {_HOURS} AND (b.day_block_id IS NULL OR EXISTS ("
    f"SELECT 1 FROM {_BLOCKS} d WHERE d.id = b.day_block_id "
    'AND (d.start < %s OR d."end" > %s)))'
)


class BlockRow(NamedTuple):
    """Database row of a block, with the fields that queries need."""

    pk: int
    service: str
    type: str
    is_day: bool  # False: an hour block
    start: datetime
    end: datetime
    last: datetime  # time of the block's latest profile
    location: BlockLocation
    profiles: int
    by_labels: bool
    has_variance: bool
    metrics: Sequence[tuple[str, str, int]]  # name, unit, number of profiles that have it


class Trees(Enum):
    """Part of a head row's call tree that a scan reads."""

    NONE = "none"
    WHOLE = "whole"
    FUNCTIONS = "functions"  # for sums by function; another thread unpacks it ahead of use


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Data that a query needs of the profiles that it reads."""

    trees: Trees = Trees.WHOLE
    # Without it, there are hour blocks only: day blocks have sums, no single profiles.
    day_blocks: bool = True
    variance: bool = False  # day blocks have sums of squares
    by_labels: bool = False  # day blocks have sums by label
    cuts: tuple[datetime, ...] = ()  # ascending; no input lies across one of these times
    # Inputs in order of time, for floating-point sums, whose last bits depend on it; otherwise in
    # the order that is read fastest.
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """Head rows and blocks that a query reads, inside the snapshot that planned it."""

    selection: ProfileSelection
    options: ReadOptions
    filter: RowFilter
    has_head: bool
    head: QuerySet[Profile]  # empty, without a statement, if `has_head` is False
    blocks: Sequence[BlockRow]  # in order of time
    result_key: tuple[Hashable, ...] | None  # of sums over the plan; None if these may change


_DEFAULT_OPTIONS = ReadOptions()


def plan_query(
    context: QueryContext, selection: ProfileSelection, options: ReadOptions = _DEFAULT_OPTIONS
) -> QueryPlan:
    """Plan the reads of a selection; call this and read all inputs inside one snapshot.

    Together the head rows and blocks have each profile once. A day block that lacks what the
    options need, or sums by label if the selection has labels, or that lies across a cut, is
    replaced by its hour blocks. Sums over a range that is closed and entirely in blocks do not
    change: compaction and retention replace blocks by others.
    """
    begin_selection(context, selection)
    has_head = bool(_newest_totals(context, selection))
    blocks = _block_rows(context, selection, options)
    is_fixed = not has_head and selection.end <= timezone.now() - CLOSED
    return QueryPlan(
        selection=selection,
        options=options,
        filter=row_filter(context, selection),
        has_head=has_head,
        head=_head_rows(selection) if has_head else Profile.objects.none(),
        blocks=blocks,
        result_key=(selection, tuple(row.pk for row in blocks)) if is_fixed else None,
    )


def begin_selection(context: QueryContext, selection: Selection) -> None:
    """Note what the query reads. Raise ValueError for another project than the context's."""
    require_own(context, selection)
    context.record.facts.note_selection(
        selection.service, selection.type.value, selection.start, selection.end
    )


def require_own(context: QueryContext, selection: Selection) -> None:
    """Raise ValueError for a selection of another project than the context's."""
    if selection.project != context.project:
        raise ValueError("The selection is of another project than the query's context.")


def profile_metrics(context: QueryContext, selection: ProfileSelection) -> tuple[Metric, ...]:
    """Return the metrics of the selection's newest profiles, the default one to show first.

    Without profiles, return the type's default metric alone.
    """
    require_own(context, selection)
    metrics: dict[Metric, None] = {}
    type_ = selection.type.value
    for totals in _newest_totals(context, selection):
        named = canonical(type_, tuple(Metric(name, unit) for name, unit, _ in totals))
        metrics.update(dict.fromkeys(named))
    blocks = _largest_blocks(context, selection)
    for block in blocks[: -NEWEST_BLOCKS - 1 : -1]:
        for name, unit, _ in block.metrics:  # profiles of a block may differ: map each alone
            metrics.update(dict.fromkeys(canonical(type_, (Metric(name, unit),))))
    preferred = [DEFAULT_METRICS[type_], *SECOND_CHOICE.get(type_, ())]
    first = [metric for metric in preferred if metric in metrics] or list(metrics)[:1]
    return tuple(dict.fromkeys([*first[:1], *metrics])) or (DEFAULT_METRICS[type_],)


def choose_metric(selection: Selection, view: View, metrics: tuple[Metric, ...]) -> Metric:
    """Return the metric of the view; without a unit, the first metric of its name.

    A name also matches in other case and as a synonym of the metric. Raise MetricNotFound if the
    profiles do not have the metric.
    """
    if view.metric is None:
        return metrics[0]
    if view.metric in metrics:
        return view.metric
    name, unit = view.metric
    matching = [metric for metric in metrics if metric.name == name and not unit] or [
        metric
        for metric in metrics
        if metric == normalise(selection.type.value, name, unit or metric.unit)[0]
    ]
    if matching:
        return matching[0]
    names = ", ".join(f"{metric.name} ({metric.unit})" for metric in metrics)
    raise MetricNotFound(f"No metric {view.metric.name} in these profiles. Available: {names}.")


def _newest_totals(context: QueryContext, selection: ProfileSelection) -> list[Totals]:
    """Return Profile.totals of the selection's newest head rows; empty without rows."""
    values = (
        selection.project,
        selection.service,
        selection.type.value,
        selection.start,
        selection.end,
        NEWEST_ROWS,
    )

    def load() -> list[Totals]:
        return [orjson.loads(totals) for (totals,) in _select(_NEWEST_TOTALS, values)]

    def load_narrowed() -> list[Totals]:
        newest = _head_rows(selection).order_by("-time")
        return list(newest.values_list("totals", flat=True)[:NEWEST_ROWS])

    totals = context.snapshot.once(("newest totals", values), load)
    if not totals or not any(
        [
            selection.zones,
            selection.versions,
            selection.labels,
            selection.total_range,
            selection.profile,
        ]
    ):
        return totals
    return context.snapshot.once(("newest totals", selection), load_narrowed)


def _head_rows(selection: ProfileSelection) -> QuerySet[Profile]:
    """Return the head rows of the selection, ignoring `top_percent`."""
    rows = Profile.objects.filter(
        project=selection.project,
        service=selection.service,
        type=selection.type,
        time__gte=selection.start,
        time__lt=selection.end,
    )
    if selection.zones:
        rows = rows.filter(deployment__zone__in=selection.zones)
    if selection.versions:
        rows = rows.filter(deployment__version__in=selection.versions)
    if selection.total_range:
        rows = rows.filter(weight__range=selection.total_range)
    if selection.profile:
        rows = rows.filter(name_id=selection.profile)
    for i, (name, values) in enumerate(selection.labels):
        label = Cast(KeyTextTransform(name, "labels"), TextField())
        rows = rows.alias(**{f"label_{i}": label})
        is_allowed = Q(**{f"label_{i}__in": values})
        if "" in values:
            is_allowed |= Q(**{f"label_{i}": None})
        rows = rows.filter(is_allowed)
    return rows


def row_filter(context: QueryContext, selection: ProfileSelection) -> RowFilter:
    """Return the filter for profiles in blocks; an empty service means all services."""
    narrowed = selection.zones or selection.versions
    deployments = matching_deployments(context, selection) if narrowed else None
    return RowFilter(
        micros(selection.start),
        micros(selection.end),
        deployments,
        selection.labels,
        selection.total_range,
        selection.profile,
    )


def read_block_rows(blocks: QuerySet[Block]) -> Iterator[BlockRow]:
    """Yield the rows of the blocks, in chunks with a statement each.

    Call it in a snapshot, with blocks in a unique order. The caller may take some rows only:
    `QuerySet.iterator` would leave an open cursor to the garbage collector then, which closes it in
    any thread and at any time, even inside another transaction.
    """
    fields = (
        *("pk", "service", "type", "resolution", "start", "end", "last"),
        *("blob__key", "offset", "length", "profiles"),
        *(f"summary__{name}" for name in _SUMMARY_FIELDS),
    )
    rows = blocks.values_list(*fields)
    for first in count(0, _BLOCK_ROWS_AT_ONCE):
        chunk = list(rows[first : first + _BLOCK_ROWS_AT_ONCE])
        yield from map(_block_row, chunk)
        if len(chunk) < _BLOCK_ROWS_AT_ONCE:
            return


def _block_rows(
    context: QueryContext,
    selection: ProfileSelection,
    options: ReadOptions,
) -> list[BlockRow]:
    single = selection.top_percent is not None or selection.total_range or selection.profile
    if not options.day_blocks or single:
        return _blocks(context, selection, _HOURS)
    rows = _largest_blocks(context, selection)
    by_labels = options.by_labels or bool(selection.labels)

    def is_usable(row: BlockRow) -> bool:
        return (
            (row.by_labels or not by_labels)
            and (row.has_variance or not options.variance)
            and not any(row.start < cut < row.end for cut in options.cuts)
        )

    finer = {row.pk for row in rows if row.is_day and not is_usable(row)}
    if not finer:
        return rows
    condition = f"{_HOURS} AND b.day_block_id IN ({', '.join(['%s'] * len(finer))})"
    hours = _blocks(context, selection, condition, *sorted(finer))
    return _sort_rows([*(row for row in rows if row.pk not in finer), *hours])


def _largest_blocks(context: QueryContext, selection: ProfileSelection) -> list[BlockRow]:
    """Return the day blocks inside the range, and hour blocks outside of these."""
    bounds = (selection.start, selection.end)
    return _blocks(context, selection, _LARGEST, *bounds, *bounds)


def _blocks(
    context: QueryContext, selection: ProfileSelection, condition: str, *parameters: int | datetime
) -> list[BlockRow]:
    """Return the blocks that overlap the range and meet a further condition, in order of time."""
    values = (
        selection.project,
        selection.service,
        selection.type.value,
        selection.start - LONGEST,
        selection.start,
        selection.end,
    )

    def load() -> list[BlockRow]:
        field = _JSON_FIELD[connection.vendor]
        summary = ", ".join(field.format(name) for name in _SUMMARY_FIELDS)
        sql = _BLOCK_ROWS.format(summary=summary, condition=condition)
        return _sort_rows(map(_block_row, _select(sql, (*values, *parameters))))

    return context.snapshot.once((condition, *values, *parameters), load)


def _select(sql: str, values: Sequence[str | int | datetime]) -> list[tuple[Any, ...]]:
    adapt = connection.ops.adapt_datetimefield_value
    adapted = [adapt(value) if isinstance(value, datetime) else value for value in values]
    with connection.cursor() as cursor:
        cursor.execute(sql, adapted)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _sort_rows(rows: Iterable[BlockRow]) -> list[BlockRow]:
    return sorted(rows, key=lambda row: (row.start, row.pk))


def _block_row(row: tuple[Any, ...]) -> BlockRow:
    """Convert a row of `_BLOCK_ROWS` or `read_block_rows`, whose times and JSON differ."""
    pk, service, type_, resolution, *times, key, offset, length, profiles = row[:-3]
    by_labels, has_variance, metrics = row[-3:]
    start, end, last = (time if time.tzinfo else time.replace(tzinfo=UTC) for time in times)
    return BlockRow(
        pk,
        service,
        type_,
        resolution == Resolution.DAY,
        start,
        end,
        last,
        BlockLocation(key, offset, length),
        profiles,
        # A statement returns JSON text on PostgreSQL; on SQLite booleans are numbers.
        by_labels in ("true", True),
        has_variance in ("true", True),
        orjson.loads(metrics) if isinstance(metrics, str) else metrics,
    )
