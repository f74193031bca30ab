"""Compaction into level-0 blocks: many settled head rows of an hour become one block.

A query reads such a block in the time of merging a few rows. When the hour is closed, its level-0
blocks and remaining rows become one hour block (hour_blocks.py). Profiles that arrive when their
hour is closed, an import for example, become level-0 blocks too, without delay.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from django.db.models.functions import Length

from profiles.compaction.head_to_blocks import BlockBatch, HourRows, Source, shares
from profiles.compaction.pending_series import LEFT, LONG, PendingSeries, pending_series
from profiles.compaction.windows import HOUR, hour_of, hours_before, settled_before
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
    moved, settled = 0, settled_before(now)
    batch = BlockBatch(project)
    for series in pending_series(now, project) if found is None else found:
        if not (series.is_long or series.is_late):
            continue
        for start, rows in groupby(_rows(series, now, settled), key=lambda row: hour_of(row.time)):
            sources = [Source(row.pk, row.size) for row in rows]
            if len(sources) < (LEFT if start + HOUR <= settled else LONG):
                continue
            for share in shares(sources):
                batch.add(HourRows(series.service, series.type, start), share, is_part=True)
                if batch.is_full:
                    moved += batch.move()
    return moved + batch.move()


def _rows(series: PendingSeries, now: datetime, settled: datetime) -> Iterable[_Row]:
    """Return the settled rows in order of time.

    Rows of closed hours are included if the series has late ones, rows of other hours if it is
    long.
    """
    rows = Profile.objects.filter(
        project=series.project,
        service=series.service,
        type=series.type,
        time__lt=settled if series.is_long else hours_before(now),
        quarantined=False,
    )
    if not series.is_late:
        rows = rows.filter(time__gte=hours_before(now))
    found = rows.order_by("time", "pk").values_list("time", "pk", Length("tree"))
    return [_Row(*row) for row in found]
