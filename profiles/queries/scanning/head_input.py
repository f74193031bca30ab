"""Scan inputs of the head: chunks of rows, read as a pipeline.

While one chunk is added to a sum, another thread unpacks the next ones and the database sends
more. Most of this work releases the GIL.
"""

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from django.db.models import BinaryField, QuerySet, Value

from profiles.engine.encoding.codec import Numbers, unpack
from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric, canonical
from profiles.models import Profile
from profiles.queries.scanning.row_stream import streamed
from profiles.queries.scanning.scan_input import Accumulator, Dimension, Trees
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.timestamps import micros

CHUNK = 16  # rows of an input; a cut makes smaller inputs of them
AHEAD = 2  # inputs that are read and unpacked ahead of use
_FIELDS = ("deployment_id", "duration_ns", "weight", "totals", "tree", "time", "pk")
Unpacked = list[Numbers | BadTree | None]


class HeadRow(NamedTuple):
    """Head row with the query's metric."""

    time: datetime
    deployment: int
    duration_ns: int
    weight: int
    total: int  # total of the query's metric
    tree: bytes
    totals: Sequence[tuple[str, str, int]]  # Profile.totals: those of all metrics


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

    def add_to(self, sink: Accumulator, used: ScanStats) -> None:
        for row, numbers in zip(self.rows, self._unpacked(), strict=True):
            try:
                if isinstance(numbers, BadTree):
                    raise numbers
                sink.add_encoded(bytes(row.tree), numbers)
            except BadTree as error:
                end = row.time + timedelta(microseconds=row.duration_ns // 1000)
                used.leave_out(row.time, end, str(error))
            else:
                used.take(1, row.total, row.duration_ns, row.time, row.time)
                if used.shared:
                    used.narrow(_metrics(self.profile_type, row.totals))
        self._count_lacking(used)

    def dimension(self, used: ScanStats) -> Dimension:
        for row in self.rows:
            used.take(1, row.total, row.duration_ns, row.time, row.time)
        self._count_lacking(used)
        columns = [(micros(row.time), *row[1:5]) for row in self.rows]
        return Dimension(*np.array(columns, np.int64).reshape(-1, 5).T)

    def _count_lacking(self, used: ScanStats) -> None:
        for row in self.lacking:
            used.lack(self.metric, row.metrics, 1, row.time, row.time)

    def _unpacked(self) -> Unpacked:
        return self.unpacked.result() if self.unpacked else [None] * len(self.rows)


def head_inputs(
    found: QuerySet[Profile],
    profile_type: str,
    metric: Metric,
    cuts: Sequence[datetime] = (),
    trees: Trees = Trees.WHOLE,
) -> Generator[HeadInput, None, None]:
    """Yield all rows as inputs in order of time; no input lies across one of the times `cuts`.

    Call this inside a snapshot, and do not use its database connection until the generator has
    ended or is closed.
    """
    with closing(streamed(_columns(found, trees))) as rows:
        told = _told(rows, profile_type, metric)
        waiting: deque[HeadInput] = deque()
        while chunk := list(islice(told, CHUNK)):
            waiting.extend(_ahead(part, trees) for part in _cut(chunk, profile_type, metric, cuts))
            while len(waiting) > AHEAD:
                yield waiting.popleft()
        yield from waiting


def _columns(found: QuerySet[Profile], trees: Trees) -> QuerySet[Profile, tuple[Any, ...]]:
    if trees is not Trees.NONE:
        return found.values_list(*_FIELDS)
    no_tree = Value(b"", BinaryField())
    return found.values_list(*(no_tree if name == "tree" else name for name in _FIELDS))


def _cut(
    rows: list[HeadRow | LackingRow],
    profile_type: str,
    metric: Metric,
    cuts: Sequence[datetime],
) -> Iterator[HeadInput]:
    for _, group in groupby(rows, key=lambda row: bisect_right(cuts, row.time)):
        having: list[HeadRow] = []
        lacking: list[LackingRow] = []
        start = None
        for row in group:
            start = start or row.time
            if isinstance(row, HeadRow):
                having.append(row)
            else:
                lacking.append(row)
        if start:
            yield HeadInput(start, profile_type, metric, having, lacking)


def _ahead(part: HeadInput, trees: Trees) -> HeadInput:
    if trees is not Trees.FUNCTIONS or not part.rows:
        return part
    encoded = [bytes(row.tree) for row in part.rows]
    return replace(part, unpacked=_unpackers.submit(unpack, encoded))


def _told(
    rows: Iterable[tuple[Any, ...]], profile_type: str, metric: Metric
) -> Iterator[HeadRow | LackingRow]:
    wanted = [*metric]
    for deployment, duration, weight, totals, tree, time, _ in rows:
        total = next((total for *named, total in totals if named == wanted), None)
        if total is None:
            metrics = _metrics(profile_type, totals)
            if metric not in metrics:
                yield LackingRow(time, metrics)
                continue
            total = totals[metrics.index(metric)][2]
        yield HeadRow(time, deployment, duration, weight, total, tree, totals)


def _metrics(profile_type: str, totals: Sequence[tuple[str, str, int]]) -> tuple[Metric, ...]:
    """Return the metrics of a row under the names that queries use."""
    return canonical(profile_type, tuple(Metric(name, unit) for name, unit, _ in totals))


_unpackers = ThreadPoolExecutor(os.cpu_count() or 1, "head-unpacker")
