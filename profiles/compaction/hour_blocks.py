"""Compaction of closed hours: head rows and level-0 blocks become hour blocks."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Length, Substr

from profiles.compaction.head_to_blocks import BlockBatch, HourRows, Source, leave, shares
from profiles.compaction.pending_series import PendingSeries, pending_series
from profiles.compaction.windows import HOUR, MARGIN, hour_of, hours_before
from profiles.models import Block, Profile
from profiles.storage.blobs import BlobUnavailable

log = logging.getLogger(__name__)
_SERVICES_A_STATEMENT = 200


def compact_hours(
    project: int, now: datetime, series: Sequence[PendingSeries] | None = None
) -> int:
    """Compact all closed hours of a project, and return how many profiles left the head.

    `series` is the result of `pending_series(now, project)` if the caller has it already.
    """
    moved = 0
    batch = BlockBatch(project)
    for hour, level0_blocks in pending_hours(project, now, series):
        for share in shares(chain(level0_blocks, _rows(project, hour, now))):
            if len(share) == 1 and share[0].is_block:
                leave([share[0].pk])
                continue
            try:
                batch.add(hour, share, is_part=False)
            except BlobUnavailable as error:
                log.warning(
                    "Compaction of the hour %s of project %s is postponed: %s",
                    _text(hour),
                    project,
                    error,
                )
            if batch.is_full:
                moved += batch.move()
    return moved + batch.move()


def _text(hour: HourRows) -> str:
    return f"{hour.service} {hour.type} {hour.start:%F %T}"


def pending_hours(
    project: int, now: datetime, series: Sequence[PendingSeries] | None = None
) -> list[tuple[HourRows, Sequence[Source]]]:
    """Return the closed hours that have head rows or level-0 blocks, sorted.

    Each comes with its level-0 blocks in order of time. Hours that still get late profiles are left
    out.
    """
    level0_blocks = _level0_blocks(project, now)
    series = pending_series(now, project) if series is None else series
    services = sorted({each.service for each in series if each.is_closed})
    found = set(level0_blocks)
    for at in range(0, len(services), _SERVICES_A_STATEMENT):
        some = services[at : at + _SERVICES_A_STATEMENT]
        found.update(_hours(_pending_rows(project, now).filter(service__in=some)))
    pending = [(hour, level0_blocks.get(hour, [])) for hour in sorted(found)]
    return [
        (hour, [block.source for block in blocks])
        for hour, blocks in pending
        if not _gets_late_profiles(hour, [block.created for block in blocks], now)
    ]


def _gets_late_profiles(hour: HourRows, created: Sequence[datetime], now: datetime) -> bool:
    """Return True if level-0 blocks were made of late profiles since MARGIN.

    More are likely to follow. The hour waits for them, so that it gets one block, but for an HOUR
    at most. `created` has the times of its level-0 blocks.
    """
    late = [time for time in created if hour.start + HOUR + MARGIN <= time <= now]
    return bool(late) and max(late) > now - MARGIN and min(late) > now - HOUR


def _hours(rows: QuerySet[Profile]) -> Iterator[HourRows]:
    """Yield the distinct hours in which the profiles started."""
    rows = rows.order_by().annotate(hour=Substr(Cast("time", TextField()), 1, 13))
    for service, type_, hour in rows.values_list("service", "type", "hour").distinct():
        yield HourRows(service, type_, datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC))


def projects_with_pending_hours(now: datetime) -> list[int]:
    """Return the projects with closed hours or long series to compact, sorted.

    The index cannot tell exactly: a few projects without anything to do may be included.
    """
    projects = pending_level0(now).order_by().values_list("project_id", flat=True).distinct()
    return sorted({*projects, *(series.project for series in pending_series(now))})


def pending_level0(now: datetime) -> QuerySet[Block]:
    """Return the level-0 blocks of closed hours, of all projects."""
    return Block.objects.filter(
        is_part=True, covered_by=None, quarantined=False, start__lt=hours_before(now)
    )


class _Level0Block(NamedTuple):
    source: Source
    created: datetime


def _level0_blocks(project: int, now: datetime) -> Mapping[HourRows, Sequence[_Level0Block]]:
    """Return the level-0 blocks of closed hours, by hour and in order of time."""
    rows = pending_level0(now).filter(project=project).order_by("start", "pk")
    found = defaultdict[HourRows, list[_Level0Block]](list)
    for service, type_, start, pk, length, profiles, created in rows.values_list(
        "service", "type", "start", "pk", "length", "profiles", "created"
    ):
        block = _Level0Block(Source(pk, length, profiles, is_block=True), created)
        found[HourRows(service, type_, hour_of(start))].append(block)
    return found


def _pending_rows(project: int, now: datetime) -> QuerySet[Profile]:
    """Return the head rows of closed hours, without quarantined and just stored ones."""
    return Profile.objects.filter(
        project=project, time__lt=hours_before(now), stored_at__lt=now - MARGIN, quarantined=False
    )


def _rows(project: int, hour: HourRows, now: datetime) -> Iterator[Source]:
    """Yield the head rows of an hour in order of time."""
    rows = _pending_rows(project, now).filter(
        service=hour.service, type=hour.type, time__gte=hour.start, time__lt=hour.start + HOUR
    )
    for pk, size in rows.order_by("time").values_list("pk", Length("tree")):
        yield Source(pk, size)
