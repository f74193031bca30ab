"""Blocks of a selection: day blocks inside its range, hour blocks at its edges."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import QuerySet

from profiles.models import Block, BlockLevel
from profiles.queries.planning import block_statements as statements
from profiles.queries.selection import Selection
from profiles.storage.block_reader import BlockLocation
from profiles.storage.round_trip import SelectStatement, execute

LONGEST = timedelta(days=1)  # greatest time range of a block
_FIELDS = (
    *("pk", "service", "type", "level", "start", "end", "last"),
    *("blob__key", "offset", "length", "profiles"),
    *("summary__by_labels", "summary__moments", "summary__metrics"),
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
    moments: bool
    metrics: Sequence[tuple[str, str, int]]  # name, unit, number of profiles that have it

    @property
    def place(self) -> BlockLocation:
        return BlockLocation(self.key, self.offset, self.length)

    @property
    def is_day(self) -> bool:
        return self.level == BlockLevel.DAY


def block_rows(
    selection: Selection,
    *,
    days: bool = True,
    moments: bool = False,
    cuts: Sequence[datetime] = (),
) -> list[BlockRow]:
    """Return the blocks to read in order of time; together they have each profile once.

    Without `days`, return hour blocks only: day blocks have sums, no single profiles. A day block
    without sums of squares (if `moments`), without sums by label (if the selection has labels) or
    across one of the times `cuts` is replaced by its hour blocks. Call this inside a snapshot.
    """
    if not (days and sums_suffice(selection)):
        return _rows(selection, statements.HOURS)
    rows = largest_rows(selection)
    finer = [row.pk for row in rows if row.is_day and not _usable(row, selection, moments, cuts)]
    if not finer:
        return rows
    usable = [row for row in rows if row.pk not in set(finer)]
    return _in_order([*usable, *_rows(selection, statements.covered_by(finer))])


def largest_rows(selection: Selection) -> list[BlockRow]:
    """Return day blocks in the selection's range, and hour blocks that no such day covers.

    The blocks are in order of time.
    """
    return execute(of_largest(selection))


def sums_suffice(selection: Selection) -> bool:
    """Return True if sums by deployment and labels suffice, without single profiles."""
    return selection.weight is None and selection.weights is None and not selection.profile


def rows_of(blocks: QuerySet[Block]) -> Iterator[BlockRow]:
    """Yield the rows of the blocks, fetched from the database in chunks of 200."""
    rows = blocks.values_list(*_FIELDS)
    return (BlockRow(*row) for row in rows.iterator(chunk_size=200))


def of_largest(selection: Selection) -> SelectStatement[list[BlockRow]]:
    return _question(selection, statements.largest(selection.start, selection.end))


def _rows(selection: Selection, which: statements.BlockFilter) -> list[BlockRow]:
    return execute(_question(selection, which))


def _question(
    selection: Selection, which: statements.BlockFilter
) -> SelectStatement[list[BlockRow]]:
    near = statements.BlockRange(
        selection.project,
        selection.service,
        selection.type.value,
        selection.start - LONGEST,
        selection.start,
        selection.end,
    )
    return statements.rows(near, which, lambda rows: _in_order(BlockRow(*row) for row in rows))


def _in_order(rows: Iterable[BlockRow]) -> list[BlockRow]:
    return sorted(rows, key=lambda row: (row.start, row.pk))


def _usable(row: BlockRow, selection: Selection, moments: bool, cuts: Sequence[datetime]) -> bool:
    """Return True if the query can use this day block, which lies inside the range."""
    return (
        (row.by_labels or not selection.labels)
        and (row.moments or not moments)
        and not any(row.start < cut < row.end for cut in cuts)
    )
