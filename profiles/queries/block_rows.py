"""Which blocks a selection is in: the largest inside its range, finer ones at its edges."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Q, QuerySet

from profiles.models import Block, Level
from profiles.queries.asked import Selection
from profiles.store.block_bytes import Place

LONGEST = timedelta(days=1)  # of a block
_FIELDS = (
    *("pk", "service", "type", "level", "start", "end", "last"),
    *("blob__key", "offset", "length", "profiles"),
)
_SAID = ("summary__by_labels", "summary__moments")


class BlockRow(NamedTuple):
    pk: int
    service: str
    type: str
    level: str
    start: datetime
    end: datetime
    last: datetime  # time of its latest profile
    key: str
    offset: int
    length: int
    profiles: int
    by_labels: bool
    moments: bool

    @property
    def place(self) -> Place:
        return Place(self.key, self.offset, self.length)

    @property
    def is_day(self) -> bool:
        return self.level == Level.DAY


def block_rows(
    selection: Selection,
    *,
    days: bool = True,  # also those that have sums alone
    moments: bool = False,  # no sums without moments
    cuts: Sequence[datetime] = (),
) -> list[BlockRow]:
    """In order of time; inside a snapshot. Together they have each profile once."""
    chosen = []
    if days and sums_suffice(selection):
        inside = _rows(_of(selection, Level.DAY))
        chosen = [row for row in inside if _usable(row, selection, moments, cuts)]
    hours = _of(selection, Level.HOUR)
    if chosen:
        hours &= Q(covered_by=None) | ~Q(covered_by__in=[row.pk for row in chosen])
    return sorted([*chosen, *_rows(hours)], key=lambda row: (row.start, row.pk))


def sums_suffice(selection: Selection) -> bool:
    """Whether profiles need not be told apart but by their deployment and labels."""
    return selection.weight is None and selection.weights is None and not selection.profile


def in_range(selection: Selection) -> Q:
    """Blocks of either level that reach into the range."""
    return Q(
        project=selection.project,
        service=selection.service,
        type=selection.type,
        # Those begin not long before it: there the index ends.
        start__gt=selection.start - LONGEST,
        start__lt=selection.end,
        end__gt=selection.start,
    )


def _of(selection: Selection, level: Level) -> Q:
    return in_range(selection) & Q(level=level)


def _rows(which: Q) -> list[BlockRow]:
    return list(rows_of(Block.objects.filter(which)))


def rows_of(blocks: QuerySet[Block]) -> Iterator[BlockRow]:
    """Read from the database while they are taken."""
    rows = blocks.values_list(*_FIELDS, *_SAID)
    return (BlockRow(*row) for row in rows.iterator(chunk_size=200))


def _usable(row: BlockRow, selection: Selection, moments: bool, cuts: Sequence[datetime]) -> bool:
    return (
        selection.start <= row.start
        and row.end <= selection.end
        and (row.by_labels or not selection.labels)
        and (row.moments or not moments)
        and not any(row.start < cut < row.end for cut in cuts)
    )
