"""First stage of a query: the head rows and blocks to read for a selection.

The statements with which most queries begin are written by hand, because Django's ORM takes more
CPU time to build them than the database takes to execute them. Their texts contain no user input.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from profiles.engine.blocks import RowFilter
from profiles.engine.metrics import DEFAULT_METRICS, SECOND_CHOICE, Metric, canonical, normalise
from profiles.models import Blob, Block, BlockLevel, Profile
from profiles.queries.context import QueryContext
from profiles.queries.deployments import matching_deployments
from profiles.queries.selection import MetricNotFound, Selection, View
from profiles.storage.block_reader import BlockLocation
from profiles.storage.snapshot import Rows, SelectStatement
from profiles.timestamps import micros

LONGEST = timedelta(days=1)  # greatest time range of a block
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
    'SELECT b.id, b.service, b.type, b.level, b.start, b."end", b.last, k.key, '  # noqa: S608
    'b."offset", b.length, b.profiles, {summary} '
    f"FROM {_BLOCKS} b JOIN {_BLOBS} k ON k.id = b.blob_id "
    "WHERE b.project_id = %s AND b.service = %s AND b.type = %s "
    f"AND b.level IN ('{BlockLevel.DAY}', '{BlockLevel.HOUR}') "
    'AND b.start > %s AND b."end" > %s AND b.start < %s AND ({condition})'
)
# The parameter before the range is its start minus LONGEST: the lower bound of the index scan.
_SUMMARY_FIELDS = ("by_labels", "moments", "metrics")
_JSON_FIELD = {"postgresql": "b.summary -> '{}'", "sqlite": "json_extract(b.summary, '$.{}')"}
_HOURS = f"b.level = '{BlockLevel.HOUR}'"
_LARGEST = (
    f"b.level = '{BlockLevel.DAY}' AND b.start >= %s AND b.\"end\" <= %s "  # noqa: S608
    f"OR {_HOURS} AND (b.covered_by_id IS NULL OR EXISTS ("
    f"SELECT 1 FROM {_BLOCKS} d WHERE d.id = b.covered_by_id "
    'AND (d.start < %s OR d."end" > %s)))'
)


class BlockRow(NamedTuple):
    """Database row of a block, with the fields that queries need."""

    pk: int
    service: str
    type: str
    level: str
    start: datetime
    end: datetime
    last: datetime  # time of the block's latest profile
    key: str
    offset: int
    length: int
    profiles: int
    by_labels: bool
    has_variance: bool
    metrics: Sequence[tuple[str, str, int]]  # name, unit, number of profiles that have it

    @property
    def location(self) -> BlockLocation:
        return BlockLocation(self.key, self.offset, self.length)

    @property
    def is_day(self) -> bool:
        return self.level == BlockLevel.DAY


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """Head rows and blocks that a query reads, inside the snapshot that planned it."""

    selection: Selection
    filter: RowFilter
    head: QuerySet[Profile]
    blocks: Sequence[BlockRow]  # in order of time

    @property
    def is_in_blocks(self) -> bool:
        """Return True if the plan is already known to have no head rows."""
        return self.head.query.is_empty()


def plan_query(
    context: QueryContext,
    selection: Selection,
    *,
    days: bool = True,
    variance: bool = False,
    cuts: Sequence[datetime] = (),
) -> QueryPlan:
    """Plan the reads of a selection; call this and read all inputs inside one snapshot.

    Together the head rows and blocks have each profile once. Without `days`, there are hour blocks
    only: day blocks have sums, no single profiles. A day block without sums of squares (if
    `variance`), without sums by label (if the selection has labels) or across one of the times
    `cuts` is replaced by its hour blocks.
    """
    require_own(context, selection)
    return QueryPlan(
        selection,
        row_filter(context, selection),
        head_rows(selection) if newest_totals(context, selection) else Profile.objects.none(),
        _block_rows(context, selection, days, variance, cuts),
    )


def require_own(context: QueryContext, selection: Selection) -> None:
    """Raise ValueError for a selection of another project than the context's."""
    if selection.project != context.project:
        raise ValueError("The selection is of another project than the query's context.")


def metrics_of(context: QueryContext, selection: Selection) -> tuple[Metric, ...]:
    """Return the metrics of the selection's newest profiles, the default one to show first.

    Without profiles, return the type's default metric alone.
    """
    require_own(context, selection)
    metrics: dict[Metric, None] = {}
    type_ = selection.type.value
    for totals in newest_totals(context, selection):
        named = canonical(type_, tuple(Metric(name, unit) for name, unit, _ in totals))
        metrics.update(dict.fromkeys(named))
    blocks = context.snapshot.select(_largest_blocks(selection))
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


def newest_totals(context: QueryContext, selection: Selection) -> list[Totals]:
    """Return Profile.totals of the selection's newest head rows; empty without rows."""
    totals = context.snapshot.select(_newest_totals(selection))
    of = selection
    if not totals or not any([of.zones, of.versions, of.labels, of.weights, of.profile]):
        return totals

    def load() -> list[Totals]:
        newest = head_rows(selection).order_by("-time")
        return list(newest.values_list("totals", flat=True)[:NEWEST_ROWS])

    return context.snapshot.once(("newest totals", selection), load)


def head_rows(selection: Selection) -> QuerySet[Profile]:
    """Return the head rows of the selection, ignoring `weight`, its top n %."""
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
    if selection.weights:
        rows = rows.filter(weight__range=selection.weights)
    if selection.profile:
        rows = rows.filter(name_id=selection.profile)
    for i, (name, values) in enumerate(selection.labels):
        label = Cast(KeyTextTransform(name, "labels"), TextField())
        rows = rows.alias(**{f"label_{i}": label})
        rows = rows.filter(Q(**{f"label_{i}__in": values}))
    return rows


def row_filter(context: QueryContext, selection: Selection) -> RowFilter:
    """Return the filter for profiles in blocks; an empty service means all services."""
    narrowed = selection.zones or selection.versions
    deployments = matching_deployments(context, selection) if narrowed else None
    return RowFilter(
        micros(selection.start),
        micros(selection.end),
        deployments,
        selection.labels,
        selection.weights,
        selection.profile,
    )


def read_block_rows(blocks: QuerySet[Block]) -> Iterator[BlockRow]:
    """Yield the rows of the blocks, fetched from the database in chunks of 200."""
    fields = (
        *("pk", "service", "type", "level", "start", "end", "last"),
        *("blob__key", "offset", "length", "profiles"),
        *(f"summary__{name}" for name in _SUMMARY_FIELDS),
    )
    rows = blocks.values_list(*fields)
    return (BlockRow(*row) for row in rows.iterator(chunk_size=200))


def _newest_totals(selection: Selection) -> SelectStatement[list[Totals]]:
    """Build the statement for the totals of the newest rows of the range, service and type."""
    of = selection
    values = (of.project, of.service, of.type.value, of.start, of.end, NEWEST_ROWS)
    return SelectStatement(("newest totals", values), _NEWEST_TOTALS, values, _read_totals)


def _read_totals(rows: Rows) -> list[Totals]:
    return [orjson.loads(totals) for (totals,) in rows]


def _block_rows(
    context: QueryContext,
    selection: Selection,
    days: bool,
    variance: bool,
    cuts: Sequence[datetime],
) -> list[BlockRow]:
    single = selection.weight is not None or selection.weights or selection.profile
    if not days or single:
        return context.snapshot.select(_blocks(selection, _HOURS))
    rows = context.snapshot.select(_largest_blocks(selection))

    def is_usable(row: BlockRow) -> bool:
        return (
            (row.by_labels or not selection.labels)
            and (row.has_variance or not variance)
            and not any(row.start < cut < row.end for cut in cuts)
        )

    finer = {row.pk for row in rows if row.is_day and not is_usable(row)}
    if not finer:
        return rows
    condition = f"{_HOURS} AND b.covered_by_id IN ({', '.join(['%s'] * len(finer))})"
    hours = context.snapshot.select(_blocks(selection, condition, *sorted(finer)))
    return _in_order([*(row for row in rows if row.pk not in finer), *hours])


def _largest_blocks(selection: Selection) -> SelectStatement[list[BlockRow]]:
    """Build the statement for day blocks inside the range, and hour blocks outside of these."""
    bounds = (selection.start, selection.end)
    return _blocks(selection, _LARGEST, *bounds, *bounds)


def _blocks(
    selection: Selection, condition: str, *parameters: int | datetime
) -> SelectStatement[list[BlockRow]]:
    """Build the statement for blocks that overlap the range and meet a further condition."""
    of, field = selection, _JSON_FIELD[connection.vendor]
    summary = ", ".join(field.format(name) for name in _SUMMARY_FIELDS)
    values = (of.project, of.service, of.type.value, of.start - LONGEST, of.start, of.end)
    return SelectStatement(
        (condition, *values, *parameters),
        _BLOCK_ROWS.format(summary=summary, condition=condition),
        (*values, *parameters),
        lambda rows: _in_order(map(_block_row, rows)),
    )


def _in_order(rows: Iterable[BlockRow]) -> list[BlockRow]:
    return sorted(rows, key=lambda row: (row.start, row.pk))


def _block_row(row: tuple[Any, ...]) -> BlockRow:
    *fields, by_labels, has_variance, metrics = row
    fields[4:7] = map(_aware, fields[4:7])
    summary = _is_true(by_labels), _is_true(has_variance), orjson.loads(metrics)
    return BlockRow._make((*fields, *summary))


def _aware(time: datetime) -> datetime:
    """Return the time in UTC: SQLite returns times without a zone."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _is_true(value: str | int) -> bool:
    """Convert a JSON boolean: PostgreSQL returns JSON text, SQLite a number."""
    return value in ("true", 1)
