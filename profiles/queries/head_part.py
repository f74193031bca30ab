"""The part of a selection that is in the head: a few hundred rows at a time."""

from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric
from profiles.micros import micros
from profiles.models import Profile
from profiles.queries.part import Dimension, Sink
from profiles.queries.row_stream import streamed
from profiles.queries.used import Used

CHUNK = 256  # rows of a part
_FIELDS = ("deployment_id", "duration_ns", "weight", "totals", "tree", "time", "pk")


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
) -> Generator[HeadPart, None, None]:
    """The rows that have the metric, in order of time; inside a snapshot, of which nothing else
    may be asked until this has ended or is closed."""
    with closing(streamed(found.values_list(*_FIELDS))) as rows:
        having = _having(rows, metric)
        while chunk := list(islice(having, CHUNK)):
            yield from _cut(chunk, cuts)


def _cut(rows: list[HeadRow], cuts: Sequence[datetime]) -> Iterator[HeadPart]:
    for _, group in groupby(rows, key=lambda row: bisect_right(cuts, row.time)):
        yield HeadPart(tuple(group))


def _having(rows: Iterable[tuple[Any, ...]], metric: Metric) -> Iterator[HeadRow]:
    wanted = [*metric]
    for deployment, duration, weight, totals, tree, time, _ in rows:
        for *named, total in totals:
            if named == wanted:
                yield HeadRow(time, deployment, duration, weight, total, tree)
                break
