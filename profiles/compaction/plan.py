"""Plan of a compaction: its steps, each of which makes blocks of one level.

Level 0: many settled rows of an hour become one block, which a query reads in the time of merging
a few rows. When the hour is closed, its level-0 blocks and remaining rows become one block of
level 1. Profiles that arrive when their hour is closed, an import for example, become level-0
blocks too, without delay. A block of such late profiles may span several hours of a day: an import
with a few profiles an hour would otherwise stay rows, or make more blocks than a query reads
quickly. Level 2: the hours of a closed day are summed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, groupby
from typing import NamedTuple

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Length, Substr

from profiles.compaction.pending_series import (
    MIN_ROWS_ENDED_HOUR,
    MIN_ROWS_OPEN_HOUR,
    PendingSeries,
    find_pending_series,
)
from profiles.models import Block, BlockLevel, Profile, Resolution
from profiles.storage.windows import (
    CLOSING_MARGIN,
    DAY,
    HOUR,
    day_start,
    get_closed_days_end,
    get_closed_hours_end,
    get_retention_start,
    get_settled_end,
    hour_start,
)

MAX_PROFILES = 4096  # in one block
# Profiles that adjacent hours may have together to share a block: for fewer, a block for each hour
# costs queries more than the profiles outside of their range that a shared block makes them skip.
MAX_SHARED_PROFILES = 256
MAX_SOURCE_BYTES = 16 * 2**20  # encoded trees and blocks that become one block, in memory
# A day that has a level-2 block is summed again only when its newest hour block of out-of-order
# profiles is this old. Until then queries read those hour blocks besides the level-2 block.
RESUM_AFTER = timedelta(hours=1)
_SERVICES_A_STATEMENT = 200
_INSTANT = timedelta(microseconds=1)  # the resolution of times


class Span(NamedTuple):
    """Hours of one day of one service and type. `start` and `end` are full hours in UTC."""

    service: str
    type: str
    start: datetime
    end: datetime

    def __str__(self) -> str:
        return f"{self.service} {self.type} {self.start:%F %T} to {self.end:%F %T}"


class Source(NamedTuple):
    """Input of a new block: a head row, a level-0 block, or an hour block that is merged."""

    pk: int  # Profile.pk, or Block.pk if `is_block`
    size: int  # bytes
    profiles: int = 1
    is_block: bool = False


class CompactionStep(NamedTuple):
    """Blocks of one level to build.

    They have at most MAX_PROFILES profiles and MAX_SOURCE_BYTES bytes, or a single source. A step
    of level 2 has no sources: all hour blocks of its day are read when it is built.
    """

    level: BlockLevel
    span: Span
    sources: Sequence[Source] = ()


class _Row(NamedTuple):
    time: datetime
    pk: int
    size: int  # bytes of its tree


class _Level0Block(NamedTuple):
    source: Source
    created: datetime


def find_projects_with_hours(now: datetime) -> list[int]:
    """Return the projects with steps of level 0 or 1, sorted.

    The index cannot tell exactly: a few projects without any step may be included.
    """
    projects = pending_level0_blocks(now).order_by().values_list("project_id", flat=True).distinct()
    return sorted({*projects, *(series.project for series in find_pending_series(now))})


def find_projects_with_days(now: datetime) -> list[int]:
    """Return the projects with hour blocks of closed days that no level-2 block sums, sorted."""
    rows = _select_unsummed_hours(now).order_by()
    return sorted(rows.values_list("project_id", flat=True).distinct())


def plan_level0(
    project: int, now: datetime, series: Sequence[PendingSeries]
) -> Iterator[CompactionStep]:
    """Yield steps for the settled rows of open hours, and for late rows of closed hours.

    `series` may be older than a compaction of hours, because the rows are counted here.
    """
    closed, settled = get_closed_hours_end(now), get_settled_end(now)
    for each in series:
        if not (each.has_enough_rows or each.has_late_rows):
            continue
        rows = _select_settled_rows(project, each, closed, settled)
        late = [row for row in rows if row.time < closed]
        recent = rows[len(late) :]
        for group in chain(_group_late_rows(late), _group_recent_rows(recent, settled)):
            span = Span(
                each.service,
                each.type,
                hour_start(group[0].time),
                hour_start(group[-1].time) + HOUR,
            )
            for share in _split_sources(Source(row.pk, row.size) for row in group):
                yield CompactionStep(BlockLevel.LEVEL_0, span, share)


def _select_settled_rows(
    project: int, series: PendingSeries, closed: datetime, settled: datetime
) -> list[_Row]:
    """Return the settled rows in order of time.

    Rows of closed hours are included if the series has late ones, rows of other hours if it has
    enough of them.
    """
    rows = Profile.objects.filter(
        project=project,
        service=series.service,
        type=series.type,
        time__lt=settled if series.has_enough_rows else closed,
        quarantined=False,
    )
    if not series.has_late_rows:
        rows = rows.filter(time__gte=closed)
    values = rows.order_by("time", "pk").values_list("time", "pk", Length("tree"))
    return [_Row(*row) for row in values]


def _group_late_rows(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """Group rows of closed hours, in order of time, into rows for one block each.

    Adjacent hours of a day with at most MAX_SHARED_PROFILES rows together share a block, as they
    do once their day is rolled up. Yield nothing for fewer than MIN_ROWS_ENDED_HOUR rows in all.
    """
    if len(rows) < MIN_ROWS_ENDED_HOUR:
        return
    group: list[_Row] = []
    for start, hour in _group_by_hour(rows):
        is_full = len(group) + len(hour) > MAX_SHARED_PROFILES
        if group and (is_full or day_start(group[0].time) != day_start(start)):
            yield group
            group = []
        group.extend(hour)
    yield group


def _group_recent_rows(rows: Sequence[_Row], settled: datetime) -> Iterator[list[_Row]]:
    """Yield the rows of each open hour that has enough of them for a block."""
    for start, hour in _group_by_hour(rows):
        has_ended = start + HOUR <= settled
        if len(hour) >= (MIN_ROWS_ENDED_HOUR if has_ended else MIN_ROWS_OPEN_HOUR):
            yield hour


def _group_by_hour(rows: Iterable[_Row]) -> Iterator[tuple[datetime, list[_Row]]]:
    for start, hour in groupby(rows, key=lambda row: hour_start(row.time)):
        yield start, list(hour)


def plan_level1(
    project: int, now: datetime, series: Sequence[PendingSeries]
) -> Iterator[CompactionStep]:
    """Yield steps for the closed hours that have head rows or level-0 blocks, in order of time.

    A step has a single hour, unless level-0 blocks of late profiles span several. Hours that still
    get late profiles are left out.
    """
    pending = dict(_group_level0_blocks(project, now))
    services = sorted({each.service for each in series if each.has_closed_rows})
    spanned = _split_into_hours(pending)
    for start in range(0, len(services), _SERVICES_A_STATEMENT):
        some = services[start : start + _SERVICES_A_STATEMENT]
        for hour in _find_hours(_select_closed_rows(project, now).filter(service__in=some)):
            if hour not in spanned:
                pending[hour] = []
    for span, blocks in sorted(pending.items()):
        if _gets_late_profiles(span, [block.created for block in blocks], now):
            continue
        level0 = [block.source for block in blocks]
        for share in _split_sources(chain(level0, _row_sources(project, span, now))):
            yield CompactionStep(BlockLevel.LEVEL_1, span, share)


def pending_level0_blocks(now: datetime) -> QuerySet[Block]:
    """Return the level-0 blocks of closed hours, of all projects."""
    return Block.objects.filter(
        is_level0=True, day_block=None, quarantined=False, start__lt=get_closed_hours_end(now)
    )


def _group_level0_blocks(project: int, now: datetime) -> Mapping[Span, Sequence[_Level0Block]]:
    """Return the level-0 blocks of closed hours in order of time, by the hours that they span.

    Blocks that share an hour are together.
    """
    rows = pending_level0_blocks(now).filter(project=project)
    groups = list[tuple[Span, list[_Level0Block]]]()
    for service, type_, start, end, pk, length, profiles, created in rows.order_by(
        "service", "type", "start", "pk"
    ).values_list("service", "type", "start", "end", "pk", "length", "profiles", "created"):
        span = Span(service, type_, hour_start(start), hour_start(end - _INSTANT) + HOUR)
        blocks = list[_Level0Block]()
        if groups:
            last = groups[-1][0]
            if last[:2] == span[:2] and span.start < last.end:
                _, blocks = groups.pop()
                span = last._replace(end=max(last.end, span.end))
        blocks.append(_Level0Block(Source(pk, length, profiles, is_block=True), created))
        groups.append((span, blocks))
    return dict(groups)


def _split_into_hours(spans: Iterable[Span]) -> set[Span]:
    return {
        Span(span.service, span.type, start, start + HOUR)
        for span in spans
        for start in (span.start + i * HOUR for i in range((span.end - span.start) // HOUR))
    }


def _find_hours(rows: QuerySet[Profile]) -> Iterator[Span]:
    """Yield the distinct hours in which the profiles started."""
    rows = rows.order_by().annotate(hour=Substr(Cast("time", TextField()), 1, 13))
    for service, type_, hour in rows.values_list("service", "type", "hour").distinct():
        start = datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC)
        yield Span(service, type_, start, start + HOUR)


def _gets_late_profiles(span: Span, created: Sequence[datetime], now: datetime) -> bool:
    """Return True if level-0 blocks were made of late profiles within CLOSING_MARGIN.

    More are likely to follow. The hours wait for them, so that they get one block, but for an HOUR
    at most. `created` has the times of their level-0 blocks.
    """
    late = [time for time in created if span.end + CLOSING_MARGIN <= time <= now]
    return bool(late) and max(late) > now - CLOSING_MARGIN and min(late) > now - HOUR


def _select_closed_rows(project: int, now: datetime) -> QuerySet[Profile]:
    """Return the head rows of closed hours, without quarantined and just stored ones."""
    return Profile.objects.filter(
        project=project,
        time__lt=get_closed_hours_end(now),
        stored_at__lt=now - CLOSING_MARGIN,
        quarantined=False,
    )


def _row_sources(project: int, span: Span, now: datetime) -> Iterator[Source]:
    """Yield the head rows of the hours in order of time."""
    rows = _select_closed_rows(project, now).filter(
        service=span.service, type=span.type, time__gte=span.start, time__lt=span.end
    )
    for pk, size in rows.order_by("time").values_list("pk", Length("tree")):
        yield Source(pk, size)


def _split_sources(sources: Iterable[Source]) -> Iterator[list[Source]]:
    """Split the sources, in their order, into lists that each become one block."""
    share: list[Source] = []
    size = profiles = 0
    for source in sources:
        size, profiles = size + source.size, profiles + source.profiles
        if share and (profiles > MAX_PROFILES or size > MAX_SOURCE_BYTES):
            yield share
            share, size, profiles = [], source.size, source.profiles
        share.append(source)
    if share:
        yield share


def plan_level2(project: int, now: datetime) -> Iterator[CompactionStep]:
    """Yield steps for the closed days with hour blocks that no level-2 block sums, sorted.

    A day that has a level-2 block already is left out until RESUM_AFTER has passed since the
    newest of these hour blocks was created: more out-of-order profiles may follow. Days with
    level-0 blocks wait until these are hour blocks, which takes an hour at most.
    """
    rows = _select_unsummed_hours(now).filter(project=project).order_by()
    newest: dict[Span, datetime] = {}
    for service, type_, start, created in rows.values_list("service", "type", "start", "created"):
        day = _day_span(service, type_, start)
        newest[day] = max(created, newest.get(day, created))
    since = get_retention_start(project, now)  # retention deletes level-2 blocks that begin earlier
    level0 = Block.objects.filter(project=project, is_level0=True, day_block=None)
    waiting = {
        _day_span(*values)
        for values in level0.filter(quarantined=False).values_list("service", "type", "start")
    }
    for day, created in sorted(newest.items()):
        if day.start < since or day in waiting:
            continue
        if created <= now - RESUM_AFTER or not find_blocks(project, day, Resolution.DAY).exists():
            yield CompactionStep(BlockLevel.LEVEL_2, day)


def plan_merges(project: int, days: Iterable[CompactionStep]) -> Iterator[CompactionStep]:
    """Yield steps that merge hour blocks of the days: small adjacent ones, and those of one hour.

    The block of level 2 that sums them already is deleted with them.
    """
    for day in days:
        rows = find_blocks(project, day.span, Resolution.PROFILE)
        for group in _group_mergeable(rows):
            if len(group) > 1:
                span = day.span._replace(start=group[0].start, end=max(row.end for row in group))
                sources = [Source(row.pk, row.length, row.profiles, is_block=True) for row in group]
                yield CompactionStep(BlockLevel.LEVEL_1, span, sources)


def _group_mergeable(rows: Iterable[Block]) -> list[list[Block]]:
    """Group blocks, which are in order of start, into those that become one."""
    groups: list[list[Block]] = []
    for row in rows:
        if groups:
            before = groups[-1]
            overlaps = row.start < max(earlier.end for earlier in before)
            limit = MAX_PROFILES if overlaps else MAX_SHARED_PROFILES
            profiles = sum(earlier.profiles for earlier in before) + row.profiles
            size = sum(earlier.length for earlier in before) + row.length
            if profiles <= limit and size <= MAX_SOURCE_BYTES:
                before.append(row)
                continue
        groups.append([row])
    return groups


def _day_span(service: str, type_: str, start: datetime) -> Span:
    day = day_start(start)
    return Span(service, type_, day, day + DAY)


def _select_unsummed_hours(now: datetime) -> QuerySet[Block]:
    """Return the blocks of level 1 of closed days that no level-2 block sums.

    Level-0 blocks of closed days are of late profiles, and more are likely to follow.
    """
    return Block.objects.filter(
        resolution=Resolution.PROFILE,
        is_level0=False,
        day_block=None,
        quarantined=False,
        end__lte=get_closed_days_end(now),
    )


def find_blocks(project: int, span: Span, resolution: Resolution) -> QuerySet[Block]:
    """Return the readable blocks that start in the span, with their blobs, in order of time."""
    rows = Block.objects.filter(
        project=project,
        service=span.service,
        type=span.type,
        resolution=resolution,
        start__gte=span.start,
        start__lt=span.end,
        quarantined=False,
    )
    return rows.select_related("blob").order_by("start", "pk")
