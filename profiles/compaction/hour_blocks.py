"""Compaction of closed hours: head rows and level-0 blocks become hour blocks."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import NamedTuple

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Length, Substr

from profiles.compaction.head_to_blocks import BlockBatch, Hours, Source, leave, shares
from profiles.compaction.pending_series import PendingSeries, pending_series
from profiles.compaction.windows import HOUR, MARGIN, hour_of, hours_before
from profiles.models import Block, Profile
from profiles.storage.blobs import BlobUnavailable

log = logging.getLogger(__name__)
_SERVICES_A_STATEMENT = 200
_INSTANT = timedelta(microseconds=1)  # the resolution of times


def compact_hours(
    project: int, now: datetime, series: Sequence[PendingSeries] | None = None
) -> int:
    """Compact all closed hours of a project, and return how many profiles left the head.

    `series` is the result of `pending_series(now, project)` if the caller has it already.
    """
    moved = 0
    batch = BlockBatch(project)
    for hours, level0_blocks in pending_hours(project, now, series):
        for share in shares(chain(level0_blocks, _rows(project, hours, now))):
            if len(share) == 1 and share[0].is_block:
                leave([share[0].pk])
                continue
            try:
                batch.add(hours, share, is_level0=False)
            except BlobUnavailable as error:
                log.warning(
                    "Compaction of the hours %s of project %s is postponed: %s",
                    _text(hours),
                    project,
                    error,
                )
            if batch.is_full:
                moved += batch.move()
    return moved + batch.move()


def _text(hours: Hours) -> str:
    return f"{hours.service} {hours.type} {hours.start:%F %T} to {hours.end:%F %T}"


def pending_hours(
    project: int, now: datetime, series: Sequence[PendingSeries] | None = None
) -> list[tuple[Hours, Sequence[Source]]]:
    """Return the closed hours that have head rows or level-0 blocks, sorted.

    Each entry comes with its level-0 blocks in order of time. It is a single hour, unless level-0
    blocks of late profiles span several. Hours that still get late profiles are left out.
    """
    pending = dict(_level0_blocks(project, now))
    series = pending_series(now, project) if series is None else series
    services = sorted({each.service for each in series if each.is_closed})
    spanned = _single_hours(pending)
    for at in range(0, len(services), _SERVICES_A_STATEMENT):
        some = services[at : at + _SERVICES_A_STATEMENT]
        for hour in _hours(_pending_rows(project, now).filter(service__in=some)):
            if hour not in spanned:
                pending[hour] = []
    return [
        (hours, [block.source for block in blocks])
        for hours, blocks in sorted(pending.items())
        if not _gets_late_profiles(hours, [block.created for block in blocks], now)
    ]


def _single_hours(spans: Iterable[Hours]) -> set[Hours]:
    """Return each hour of the spans by itself."""
    return {
        Hours(span.service, span.type, start, start + HOUR)
        for span in spans
        for start in (span.start + i * HOUR for i in range((span.end - span.start) // HOUR))
    }


def _gets_late_profiles(hours: Hours, created: Sequence[datetime], now: datetime) -> bool:
    """Return True if level-0 blocks were made of late profiles since MARGIN.

    More are likely to follow. The hours wait for them, so that they get one block, but for an HOUR
    at most. `created` has the times of their level-0 blocks.
    """
    late = [time for time in created if hours.end + MARGIN <= time <= now]
    return bool(late) and max(late) > now - MARGIN and min(late) > now - HOUR


def _hours(rows: QuerySet[Profile]) -> Iterator[Hours]:
    """Yield the distinct hours in which the profiles started."""
    rows = rows.order_by().annotate(hour=Substr(Cast("time", TextField()), 1, 13))
    for service, type_, hour in rows.values_list("service", "type", "hour").distinct():
        start = datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC)
        yield Hours(service, type_, start, start + HOUR)


def projects_with_pending_hours(now: datetime) -> list[int]:
    """Return the projects with closed hours or long series to compact, sorted.

    The index cannot tell exactly: a few projects without anything to do may be included.
    """
    projects = pending_level0(now).order_by().values_list("project_id", flat=True).distinct()
    return sorted({*projects, *(series.project for series in pending_series(now))})


def pending_level0(now: datetime) -> QuerySet[Block]:
    """Return the level-0 blocks of closed hours, of all projects."""
    return Block.objects.filter(
        is_level0=True, day_block=None, quarantined=False, start__lt=hours_before(now)
    )


class _Level0Block(NamedTuple):
    source: Source
    created: datetime


def _level0_blocks(project: int, now: datetime) -> Mapping[Hours, Sequence[_Level0Block]]:
    """Return the level-0 blocks of closed hours in order of time, by the hours that they span.

    Blocks that share an hour are together.
    """
    rows = pending_level0(now).filter(project=project).order_by("service", "type", "start", "pk")
    found = list[tuple[Hours, list[_Level0Block]]]()
    for service, type_, start, end, pk, length, profiles, created in rows.values_list(
        "service", "type", "start", "end", "pk", "length", "profiles", "created"
    ):
        hours = Hours(service, type_, hour_of(start), hour_of(end - _INSTANT) + HOUR)
        blocks = list[_Level0Block]()
        if found and _overlap(found[-1][0], hours):
            before, blocks = found.pop()
            hours = before._replace(end=max(before.end, hours.end))
        blocks.append(_Level0Block(Source(pk, length, profiles, is_block=True), created))
        found.append((hours, blocks))
    return dict(found)


def _overlap(before: Hours, hours: Hours) -> bool:
    """Return True if two spans of one series share an hour; `before` does not start later."""
    return before[:2] == hours[:2] and hours.start < before.end


def _pending_rows(project: int, now: datetime) -> QuerySet[Profile]:
    """Return the head rows of closed hours, without quarantined and just stored ones."""
    return Profile.objects.filter(
        project=project, time__lt=hours_before(now), stored_at__lt=now - MARGIN, quarantined=False
    )


def _rows(project: int, hours: Hours, now: datetime) -> Iterator[Source]:
    """Yield the head rows of the hours in order of time."""
    rows = _pending_rows(project, now).filter(
        service=hours.service, type=hours.type, time__gte=hours.start, time__lt=hours.end
    )
    for pk, size in rows.order_by("time").values_list("pk", Length("tree")):
        yield Source(pk, size)
