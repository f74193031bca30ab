"""Query plan of a selection: the head rows and blocks to read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import tee
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from profiles.engine.blocks import ProfileColumns
from profiles.engine.metrics import Metric
from profiles.models import Profile
from profiles.queries.planning.block_index import BlockRow, block_rows
from profiles.queries.planning.block_masks import BlockSelection, block_selection
from profiles.queries.planning.head_rows import head_of
from profiles.queries.planning.heaviest import heaviest
from profiles.queries.scanning.block_input import (
    UNREADABLE,
    DayInput,
    HourInput,
    OpenedBlock,
    is_kept,
    leave_out,
)
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import Selection, check
from profiles.storage.block_reader import sources

BlockPart = HourInput | DayInput
ANY = Metric("", "")  # for plans that do not depend on a metric


class ProfileFacts(NamedTuple):
    """Columns of the matching profiles of a block input, readable without call trees."""

    part: BlockPart
    columns: ProfileColumns  # all profiles of the block
    meant: NDArray[np.int64]  # indexes of the matching profiles, at least one, with any metrics


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """Head rows and block inputs that a query reads, inside the snapshot that planned it."""

    head: QuerySet[Profile]
    blocks: Iterator[BlockPart]  # in order of time; iterate once
    rows: tuple[int, ...]  # Block.pk of all planned blocks
    deadline: float | None

    @property
    def is_in_blocks(self) -> bool:
        """Return True if the plan is already known to have no head rows."""
        return self.head.query.is_empty()

    def known(self, used: ScanStats) -> Iterator[ProfileFacts]:
        return known(self.blocks, used, self.deadline)


def plan_query(
    selection: Selection,
    metric: Metric = ANY,
    *,
    days: bool = True,
    moments: bool = False,
    cuts: Sequence[datetime] = (),
    deadline: float | None = None,
) -> QueryPlan:
    """Plan the reads of a selection; call this and read all inputs inside one snapshot.

    `days`, `moments` and `cuts` are those of `block_rows`. Each hour block across a cut becomes
    several inputs.
    """
    which = block_selection(selection)
    rows = block_rows(selection, days=days, moments=moments, cuts=cuts)
    head = head_of(selection)
    blocks = in_rows(which, rows, metric, cuts)
    if selection.weight is not None:
        hours = [part for part in blocks if isinstance(part, HourInput)]
        those, narrowed = heaviest(which, selection.weight, hours)
        head, blocks = head.filter(those), iter(narrowed)
    return QueryPlan(head, blocks, tuple(row.pk for row in rows), deadline)


def known(
    parts: Iterable[BlockPart], used: ScanStats, deadline: float | None = None
) -> Iterator[ProfileFacts]:
    """Yield the columns of each input with matching profiles.

    Unreadable inputs are reported in `used`; the readable profiles are not counted there. Raise
    DeadlinePassed between two inputs, or if a blob is not read before the deadline.
    """
    for part in parts:
        check(deadline)
        try:
            columns, meant = part.opened.profiles, np.flatnonzero(part.meant)
        except UNREADABLE as error:
            leave_out(used, part.opened.row, error)
            continue
        if len(meant):
            yield ProfileFacts(part, columns, meant)


def in_rows(
    which: BlockSelection,
    rows: Iterable[BlockRow],
    metric: Metric = ANY,
    cuts: Sequence[datetime] = (),
) -> Iterator[BlockPart]:
    """Yield the inputs of these blocks in their order, ignoring the selection's top n %.

    Remote blobs are fetched ahead. Each block goes to the block cache once its inputs are used.
    """
    rows, ahead = tee(rows)
    places = (row.place for row in ahead)
    for row, source in zip(rows, sources(places, is_kept), strict=True):
        opened = OpenedBlock(row, source)
        if row.is_day:
            yield DayInput(opened, which, metric)
        else:
            inside = [cut for cut in cuts if row.start < cut < row.end]
            for start, end in zip([row.start, *inside], [*inside, row.end], strict=True):
                yield HourInput(opened, which, metric, start, end)
        opened.keep()
