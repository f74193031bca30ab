"""The part of a selection that is in the head: a few hundred rows at a time."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Q, QuerySet

from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric
from profiles.models import Profile
from profiles.queries.part import Dimension, Sink
from profiles.queries.used import Used
from profiles.queries.wanted import micros

CHUNK = 256  # rows that are in memory at a time
_FIELDS = ("time", "deployment_id", "duration_ns", "weight", "totals", "tree")


class HeadRow(NamedTuple):
    time: datetime
    deployment: int
    duration_ns: int
    weight: int
    total: int  # of the metric
    tree: bytes


@dataclass(frozen=True, slots=True)
class HeadPart:
    """At least one row, in order of time."""

    rows: Sequence[HeadRow]

    @property
    def start(self) -> datetime:
        return self.rows[0].time

    def add_to(self, sink: Sink, used: Used) -> None:
        for row in self.rows:
            try:
                sink.add_encoded(bytes(row.tree))
            except BadTree as error:
                end = row.time + timedelta(microseconds=row.duration_ns // 1000)
                used.leave_out(row.time, end, str(error))
            else:
                used.take(1, row.total, row.duration_ns, row.time, row.time)

    def dimension(self, used: Used) -> Dimension:
        for row in self.rows:
            used.take(1, row.total, row.duration_ns, row.time, row.time)
        columns = [(micros(row.time), *row[1:5]) for row in self.rows]
        return Dimension(*np.array(columns, np.int64).reshape(-1, 5).T)


def head_parts(
    found: QuerySet[Profile], metric: Metric, cuts: Sequence[datetime] = ()
) -> Iterator[HeadPart]:
    """The rows that have the metric; inside a snapshot."""
    chunk: list[HeadRow] = []
    for row in _rows(found, metric):
        chunk.append(row)
        if len(chunk) == CHUNK:
            yield from _cut(chunk, cuts)
            chunk = []
    yield from _cut(chunk, cuts)


def _cut(rows: list[HeadRow], cuts: Sequence[datetime]) -> Iterator[HeadPart]:
    for _, group in groupby(rows, key=lambda row: bisect_right(cuts, row.time)):
        yield HeadPart(tuple(group))


def _rows(found: QuerySet[Profile], metric: Metric) -> Iterator[HeadRow]:
    for time, deployment, duration, weight, totals, tree, _ in _in_chunks(found):
        total = next((t for name, unit, t in totals if (name, unit) == metric), None)
        if total is not None:
            yield HeadRow(time, deployment, duration, weight, total, tree)


def _in_chunks(found: QuerySet[Profile]) -> Iterator[tuple[Any, ...]]:
    """The rows in order of time; never more than a chunk of them is held."""
    rows = found.order_by("time", "pk").values_list(*_FIELDS, "pk")
    chunk = list(rows[:CHUNK])
    yield from chunk
    while len(chunk) == CHUNK:
        time, *_, pk = chunk[-1]
        chunk = list(rows.filter(Q(time__gt=time) | Q(time=time, pk__gt=pk))[:CHUNK])
        yield from chunk
