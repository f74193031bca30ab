"""Parts: where an hour that is not over has many rows, those that are settled become a block.

A question reads a block of them in the time that it takes to merge a few rows. When the hour is
closed, its parts and the rows that are left become one block (hours).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from django.db.models.functions import Length

from profiles.compaction.head_to_blocks import BlockBatch, HourRows, Source, shares
from profiles.compaction.pending_series import LONG, PendingSeries, pending_series
from profiles.compaction.windows import HOUR, hour_of, hours_before, settled_before
from profiles.models import Profile

# Of an hour that is over no more is to come: what is left of it need not wait for so many.
LEFT = 16


class _Row(NamedTuple):
    time: datetime
    pk: int
    size: int  # bytes of its tree


def compact_long_heads(
    project: int, now: datetime, found: Sequence[PendingSeries] | None = None
) -> int:
    """All that are due of a project; returns how many profiles left the head.

    `found` is what due_series gave at this time, if it was asked already: that hours were rolled
    up since then does not matter, for rows are counted here.
    """
    moved, settled = 0, settled_before(now)
    batch = BlockBatch(project)
    for series in pending_series(now, project) if found is None else found:
        if not series.is_long:
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
    """Settled ones of hours that are not closed, in order of time."""
    rows = Profile.objects.filter(
        project=series.project,
        service=series.service,
        type=series.type,
        time__gte=hours_before(now),
        time__lt=settled,
        stored_at__lt=settled,
        set_aside=False,
    )
    found = rows.order_by("time", "pk").values_list("time", "pk", Length("tree"))
    return [_Row(*row) for row in found]
