"""The part of a selection that is in the head: some rows at a time.

While some are added to a sum, another thread unpacks those that follow, and the database sends
more: little of all this needs the GIL.
"""

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from django.db.models import BinaryField, QuerySet, Value

from profiles.engine.codec import Numbers, unpack
from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric
from profiles.micros import micros
from profiles.models import Profile
from profiles.queries.part import Dimension, Sink, Trees
from profiles.queries.row_stream import streamed
from profiles.queries.used import Used

CHUNK = 16  # rows of a part
AHEAD = 2  # parts that are read, and being unpacked, before they are needed
_FIELDS = ("deployment_id", "duration_ns", "weight", "totals", "tree", "time", "pk")
Unpacked = list[Numbers | BadTree | None]


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
    unpacked: Future[Unpacked] | None = None  # the trees of the rows, if they are ahead

    @property
    def start(self) -> datetime:
        return self.rows[0].time

    def add_to(self, sink: Sink, used: Used) -> None:
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

    def dimension(self, used: Used) -> Dimension:
        for row in self.rows:
            used.take(1, row.total, row.duration_ns, row.time, row.time)
        columns = [(micros(row.time), *row[1:5]) for row in self.rows]
        return Dimension(*np.array(columns, np.int64).reshape(-1, 5).T)

    def _unpacked(self) -> Unpacked:
        return self.unpacked.result() if self.unpacked else [None] * len(self.rows)


def head_parts(
    found: QuerySet[Profile],
    metric: Metric,
    cuts: Sequence[datetime] = (),
    trees: Trees = Trees.WHOLE,
) -> Generator[HeadPart, None, None]:
    """The rows that have the metric, in order of time; inside a snapshot, of which nothing else
    may be asked until this has ended or is closed."""
    with closing(streamed(_columns(found, trees))) as rows:
        having = _having(rows, metric)
        waiting: deque[HeadPart] = deque()
        while chunk := list(islice(having, CHUNK)):
            waiting.extend(_ahead(part, trees) for part in _cut(chunk, cuts))
            while len(waiting) > AHEAD:
                yield waiting.popleft()
        yield from waiting


def _columns(found: QuerySet[Profile], trees: Trees) -> QuerySet[Profile, tuple[Any, ...]]:
    if trees is not Trees.NONE:
        return found.values_list(*_FIELDS)
    no_tree = Value(b"", BinaryField())
    return found.values_list(*(no_tree if name == "tree" else name for name in _FIELDS))


def _cut(rows: list[HeadRow], cuts: Sequence[datetime]) -> Iterator[HeadPart]:
    for _, group in groupby(rows, key=lambda row: bisect_right(cuts, row.time)):
        yield HeadPart(tuple(group))


def _ahead(part: HeadPart, trees: Trees) -> HeadPart:
    if trees is not Trees.FUNCTIONS:
        return part
    encoded = [bytes(row.tree) for row in part.rows]
    return HeadPart(part.rows, _unpackers.submit(unpack, encoded))


def _having(rows: Iterable[tuple[Any, ...]], metric: Metric) -> Iterator[HeadRow]:
    wanted = [*metric]
    for deployment, duration, weight, totals, tree, time, _ in rows:
        for *named, total in totals:
            if named == wanted:
                yield HeadRow(time, deployment, duration, weight, total, tree)
                break


_unpackers = ThreadPoolExecutor(os.cpu_count() or 1, "head-unpacker")
