"""Compaction into level-0 blocks: many settled head rows of an hour become one block.

A query reads such a block in the time of merging a few rows. When the hour is closed, its level-0
blocks and remaining rows become one hour block (hour_blocks.py). Profiles that arrive when their
hour is closed, an import for example, become level-0 blocks too, without delay. A block of such
late profiles may span several hours of a day: an import with a few profiles an hour would
otherwise stay rows, or make more blocks than a query reads quickly.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, groupby
from typing import NamedTuple

from django.db.models.functions import Length

from profiles.compaction.head_to_blocks import SMALL, BlockBatch, Hours, Source, shares
from profiles.compaction.pending_series import LEFT, LONG, PendingSeries, pending_series
from profiles.compaction.windows import HOUR, day_of, hour_of, hours_before, settled_before
from profiles.models import Profile


class _Row(NamedTuple):
    time: datetime
    pk: int
    size: int  # bytes of its tree


def compact_long_heads(
    project: int, now: datetime, found: Sequence[PendingSeries] | None = None
) -> int:
    """Compact the settled rows of all long series of a project, and late rows of closed hours.

    Return how many profiles left the head. `found` is the result of `pending_series(now, project)`
    if the caller has it already; it may be older than a compaction of hours, because the rows are
    counted here.
    """
    moved, settled, closed = 0, settled_before(now), hours_before(now)
    batch = BlockBatch(project)
    for series in pending_series(now, project) if found is None else found:
        if not (series.is_long or series.is_late):
            continue
        rows = _rows(series, closed, settled)
        late = [row for row in rows if row.time < closed]
        recent = rows[len(late) :]
        for group in chain(_groups_of_late(late), _groups_of_recent(recent, settled)):
            for share in shares(Source(row.pk, row.size) for row in group):
                start, end = hour_of(group[0].time), hour_of(group[-1].time) + HOUR
                batch.add(Hours(series.service, series.type, start, end), share, is_level0=True)
                if batch.is_full:
                    moved += batch.move()
    return moved + batch.move()


def _rows(series: PendingSeries, closed: datetime, settled: datetime) -> list[_Row]:
    """Return the settled rows in order of time.

    Rows of closed hours are included if the series has late ones, rows of other hours if it is
    long.
    """
    rows = Profile.objects.filter(
        project=series.project,
        service=series.service,
        type=series.type,
        time__lt=settled if series.is_long else closed,
        quarantined=False,
    )
    if not series.is_late:
        rows = rows.filter(time__gte=closed)
    found = rows.order_by("time", "pk").values_list("time", "pk", Length("tree"))
    return [_Row(*row) for row in found]


def _groups_of_late(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """Group rows of closed hours, in order of time, into rows for one block each.

    Adjacent hours of a day with at most SMALL rows together share a block, as they do once their
    day is rolled up. Yield nothing for fewer than LEFT rows in all.
    """
    if len(rows) < LEFT:
        return
    group: list[_Row] = []
    for start, hour in _by_hour(rows):
        if group and (len(group) + len(hour) > SMALL or day_of(group[0].time) != day_of(start)):
            yield group
            group = []
        group.extend(hour)
    yield group


def _groups_of_recent(rows: Sequence[_Row], settled: datetime) -> Iterator[list[_Row]]:
    """Yield the rows of each open hour that has enough of them for a block."""
    for start, hour in _by_hour(rows):
        if len(hour) >= (LEFT if start + HOUR <= settled else LONG):
            yield hour


def _by_hour(rows: Iterable[_Row]) -> Iterator[tuple[datetime, list[_Row]]]:
    for start, hour in groupby(rows, key=lambda row: hour_of(row.time)):
        yield start, list(hour)
