"""Second stage of a query: read the planned head rows and blocks, and add them to a sum.

An input is a number of profiles that are stored together. All inputs come from one database
snapshot, so that a profile that compaction moves in the meantime is neither lost nor counted
twice.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, groupby, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import orjson
import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import BinaryField, Q, QuerySet, Value
from psycopg.types.json import set_json_loads

from common.cores import count_cores
from common.thread_pool import ThreadPool
from profiles.engine.accumulators.merge import LIMIT
from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.encoding.codec import Numbers, unpack
from profiles.engine.errors import BadProfile, BadTree, TooLarge
from profiles.engine.metrics import Metric, canonical
from profiles.engine.timestamps import micros
from profiles.models import Profile
from profiles.queries.context import QueryContext
from profiles.queries.heaviest import heaviest
from profiles.queries.plan import QueryPlan, Trees
from profiles.queries.saved_tree_input import SavedTreeInput, SavedTreePlan
from profiles.queries.scan_input import (
    ANY,
    Accumulator,
    BlockInput,
    Dimension,
    HourInput,
    ProfileLabel,
    ProfilesInput,
    block_inputs,
)
from profiles.queries.selection import InvalidQuery

CHUNK = 16  # head rows of an input; a cut makes smaller inputs of them
STATEMENT_ROWS = 256  # head rows of each statement on databases without streaming
AHEAD = 2  # inputs of the head that are read and unpacked ahead of use
_HEAD_FIELDS = (
    *("deployment_id", "duration_ns", "weight", "totals", "labels", "tree"),
    *("time", "pk"),
)
Unpacked = list[Numbers | BadTree | None]
Plan: TypeAlias = QueryPlan | SavedTreePlan
RowQuery: TypeAlias = "QuerySet[Any, tuple[Any, ...]]"
RowStream = Generator[tuple[Any, ...], None, None]


def add_profiles(
    context: QueryContext,
    plan: Plan,
    metric: Metric,
    accumulator: Accumulator,
    stats: ScanStats | None = None,
) -> Coverage:
    """Add all planned profiles that have the metric to the accumulator; return their coverage.

    Profiles that cannot be read are left out and listed in the coverage. `stats` counts the
    profiles. Raise BadProfile if a sum passes 64 bits, and TooLarge if the accumulator passes its
    limit.
    """
    stats = stats or ScanStats()
    if isinstance(plan, SavedTreePlan):
        SavedTreeInput(context, plan.row, metric).read_into(accumulator, stats)
    else:
        with scan(context, plan, metric) as inputs:
            for each in inputs:
                each.read_into(accumulator, stats)
    coverage = stats.coverage()
    context.record.facts.profiles += coverage.profiles
    require_64_bits(coverage.total)
    return coverage


@contextmanager
def scan(
    context: QueryContext,
    plan: QueryPlan,
    metric: Metric,
    trees: Trees | None = None,
) -> Generator[Iterator[ProfilesInput], None, None]:
    """Open a scan of all planned profiles that have the metric.

    `trees` replaces that of the plan's options. With `Trees.NONE`, inputs of the head provide
    `dimension` only. Iteration raises DeadlinePassed between inputs.
    """
    rows, blocks = open_plan(context, plan, metric)
    if not plan.has_head:
        yield _check_between(context, blocks)
        return
    options, type_ = plan.options, plan.selection.type.value
    with closing(_head_inputs(rows, type_, metric, options.cuts, trees or options.trees)) as head:
        in_order = chain[ProfilesInput](head, blocks)
        yield _check_between(context, in_order if options.in_order else _blocks_first(blocks, head))


def open_plan(
    context: QueryContext, plan: QueryPlan, metric: Metric = ANY
) -> tuple[QuerySet[Profile], Iterator[BlockInput]]:
    """Return a plan's head rows and block inputs, both narrowed to the selection's top n %."""
    blocks = block_inputs(context, plan.filter, plan.blocks, metric, plan.options.cuts)
    if plan.selection.top_percent is None:
        return plan.head, blocks
    hours = [each for each in blocks if isinstance(each, HourInput)]
    chosen, narrowed = heaviest(plan.head, plan.selection.top_percent, hours)
    return plan.head.filter(chosen), iter(narrowed)


def require_64_bits(total: int) -> None:
    """Raise BadProfile if a query's total does not fit in 64 bits.

    Accumulators check the self values of nodes; this check covers the totals of nodes too.
    """
    if total >= 2**63:
        raise BadProfile("The sum of the values exceeds 64 bits. Select fewer profiles.")


@contextmanager
def explain_errors(
    kinds: tuple[type[Exception], ...] = (BadProfile, TooLarge),
) -> Iterator[None]:
    """Turn errors of an accumulator, those of the types `of`, into InvalidQuery with advice."""
    try:
        yield
    except kinds as error:
        if isinstance(error, TooLarge) and error.limit == LIMIT:
            raise InvalidQuery(
                f"FLAMEWATCH_MAX_QUERY_NODES allows {error.allowed:,} nodes in a merged call tree, "
                "and these profiles have more. Try a shorter time range, or fewer zones and "
                "versions."
            ) from error
        raise InvalidQuery(f"These profiles cannot be merged: {error}") from error


def _blocks_first(
    blocks: Iterator[ProfilesInput], head: Iterator[ProfilesInput]
) -> Iterator[ProfilesInput]:
    """Yield the blocks before the head rows, but start to read the head first.

    Other threads unpack the first head rows while the blocks are added. The sum then contains
    most functions of the head already, and their strings need not be decoded.
    """
    begun = [*islice(head, 1)]
    yield from blocks
    yield from begun
    yield from head


def _check_between(
    context: QueryContext, inputs: Iterator[ProfilesInput]
) -> Iterator[ProfilesInput]:
    for each in inputs:
        context.check()
        yield each


class HeadRow(NamedTuple):
    """Head row with the query's metric."""

    time: datetime
    deployment: int
    duration_ns: int
    profile_total: int
    total: int  # total of the query's metric
    tree: bytes
    totals: Sequence[tuple[str, str, int]]  # Profile.totals: those of all metrics
    labels: Mapping[str, str]


class LackingRow(NamedTuple):
    """Head row without the query's metric."""

    time: datetime
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class HeadInput:
    """Head rows in order of time, at least one, split into those with and without the metric."""

    start: datetime
    profile_type: str
    metric: Metric
    rows: Sequence[HeadRow]
    lacking: Sequence[LackingRow] = ()
    unpacked: Future[Unpacked] | None = None  # trees of `rows`, if they are unpacked in a thread

    def read_into(self, accumulator: Accumulator, stats: ScanStats) -> None:
        added = list[HeadRow]()
        unpacked = self.unpacked.result() if self.unpacked else [None] * len(self.rows)
        for row, numbers in zip(self.rows, unpacked, strict=True):
            try:
                if isinstance(numbers, BadTree):
                    raise numbers
                accumulator.add_encoded(bytes(row.tree), numbers)
            except BadTree as error:
                end = row.time + timedelta(microseconds=row.duration_ns // 1000)
                stats.leave_out(row.time, end, str(error))
            else:
                added.append(row)
                if stats.shared:
                    stats.narrow(_canonical(self.profile_type, row.totals))
        self._count(added, stats)

    def dimension(self, stats: ScanStats) -> Dimension:
        self._count(self.rows, stats)
        columns = [(micros(row.time), *row[1:5]) for row in self.rows]
        return Dimension(*np.array(columns, np.int64).reshape(-1, 5).T)

    def split_by_value(self, label: ProfileLabel) -> Sequence[tuple[str, ProfilesInput]]:
        unpacked = self.unpacked.result() if self.unpacked else [None] * len(self.rows)
        groups: dict[str, list[tuple[HeadRow, Numbers | BadTree | None]]] = {}
        for row, numbers in zip(self.rows, unpacked, strict=True):
            value = label.get_value(row.deployment, row.labels)
            groups.setdefault(value, []).append((row, numbers))
        found: list[tuple[str, ProfilesInput]] = [
            (
                value,
                replace(
                    self,
                    rows=[row for row, _ in group],
                    lacking=(),
                    unpacked=_complete_future([numbers for _, numbers in group]),
                ),
            )
            for value, group in groups.items()
        ]
        if self.lacking:
            found.append(("", replace(self, rows=(), unpacked=None)))
        return found

    def _count(self, used: Sequence[HeadRow], stats: ScanStats) -> None:
        """Count the rows that were used, in order of time, and those without the metric."""
        if used:
            stats.take(
                profiles=len(used),
                total=sum(row.total for row in used),
                duration_ns=sum(row.duration_ns for row in used),
                first=used[0].time,
                last=used[-1].time,
            )
        for row in self.lacking:
            stats.lack(self.metric, row.metrics, 1, row.time, row.time)


def _head_inputs(
    head: QuerySet[Profile],
    profile_type: str,
    metric: Metric,
    cuts: Sequence[datetime],
    trees: Trees,
) -> Generator[HeadInput, None, None]:
    """Yield the head rows in order of time, in chunks.

    While one chunk is added to a sum, another thread unpacks the next ones and the database sends
    more. Most of this work releases the GIL. Close the generator to release the connection.
    """
    with closing(stream_rows(_columns(head, trees))) as stream:
        rows = _head_rows(stream, profile_type, metric)
        ahead: deque[HeadInput] = deque()
        while chunk := list(islice(rows, CHUNK)):
            inputs = _cut(chunk, profile_type, metric, cuts)
            ahead.extend(_unpack_ahead(each, trees) for each in inputs)
            while len(ahead) > AHEAD:
                yield ahead.popleft()
        yield from ahead


def _columns(rows: QuerySet[Profile], trees: Trees) -> QuerySet[Profile, tuple[Any, ...]]:
    if trees is not Trees.NONE:
        return rows.values_list(*_HEAD_FIELDS)
    no_tree = Value(b"", BinaryField())
    return rows.values_list(*(no_tree if name == "tree" else name for name in _HEAD_FIELDS))


def stream_rows(rows: RowQuery) -> RowStream:
    """Yield rows as tuples in order of time and pk, which must be their last two columns.

    Django reads PostgreSQL's `bytea` as hexadecimal text, which takes most of the time to read
    the trees of an hour. This function requests PostgreSQL's binary format, and yields rows
    while later ones are still arriving. Do not use the database connection until the generator
    has ended or is closed.
    """
    rows = rows.order_by("time", "pk")
    return _stream_binary(rows) if connection.vendor == "postgresql" else _read_in_chunks(rows)


def _stream_binary(rows: RowQuery) -> RowStream:
    connection.ensure_connection()
    try:
        sql, parameters = rows.query.sql_with_params()
    except EmptyResultSet:  # no row can match the filters: no statement to send
        return
    # Django's own cursors bind parameters in the client, which excludes binary results.
    with psycopg.Cursor[tuple[Any, ...]](connection.connection) as cursor:
        set_json_loads(orjson.loads, cursor)
        # psycopg fetches this many rows at a time; the connection buffers more.
        yield from cursor.stream(sql, parameters, binary=True, size=CHUNK)


def _read_in_chunks(rows: RowQuery) -> RowStream:
    chunk = list(rows[:STATEMENT_ROWS])
    yield from chunk
    while len(chunk) == STATEMENT_ROWS:
        time, pk = chunk[-1][-2:]
        chunk = list(rows.filter(Q(time__gt=time) | Q(time=time, pk__gt=pk))[:STATEMENT_ROWS])
        yield from chunk


def _head_rows(
    rows: Iterable[tuple[Any, ...]], profile_type: str, metric: Metric
) -> Iterator[HeadRow | LackingRow]:
    for deployment, duration, profile_total, totals, labels, tree, time, _ in rows:
        total = find_total(totals, metric, profile_type)
        if isinstance(total, int):
            yield HeadRow(time, deployment, duration, profile_total, total, tree, totals, labels)
        else:
            yield LackingRow(time, total)


def find_total(
    totals: Sequence[tuple[str, str, int]], metric: Metric, profile_type: str
) -> int | tuple[Metric, ...]:
    """Return a head row's total of the metric, or the metrics that it has instead.

    `totals` is Profile.totals.
    """
    name_and_unit = [*metric]
    total = next((total for *named, total in totals if named == name_and_unit), None)
    if total is not None:
        return total
    metrics = _canonical(profile_type, totals)
    return totals[metrics.index(metric)][2] if metric in metrics else metrics


def _cut(
    rows: list[HeadRow | LackingRow], profile_type: str, metric: Metric, cuts: Sequence[datetime]
) -> Iterator[HeadInput]:
    for _, group in groupby(rows, key=lambda row: bisect_right(cuts, row.time)):
        between = [*group]
        having = [row for row in between if isinstance(row, HeadRow)]
        lacking = [row for row in between if isinstance(row, LackingRow)]
        yield HeadInput(between[0].time, profile_type, metric, having, lacking)


def _unpack_ahead(head: HeadInput, trees: Trees) -> HeadInput:
    if trees is not Trees.FUNCTIONS or not head.rows:
        return head
    encoded = [bytes(row.tree) for row in head.rows]
    return replace(head, unpacked=_unpackers.submit(partial(unpack, encoded)))


def _complete_future(unpacked: Unpacked) -> Future[Unpacked]:
    future = Future[Unpacked]()
    future.set_result(unpacked)
    return future


def _canonical(profile_type: str, totals: Sequence[tuple[str, str, int]]) -> tuple[Metric, ...]:
    """Return the metrics of a row under the names that queries use."""
    return canonical(profile_type, tuple(Metric(name, unit) for name, unit, _ in totals))


_unpackers = ThreadPool("head-unpacker", count_cores())
