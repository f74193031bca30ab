"""Rollup of closed days: merge small hour blocks, and sum all hour blocks into a day block."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import QuerySet

from profiles.compaction.head_to_blocks import MAX_PROFILES, SMALL
from profiles.compaction.new_blocks import new_day, new_hour
from profiles.compaction.replace import NewBlock, Sources, SourcesGone, replace_sources
from profiles.compaction.stored_hours import UNREADABLE, damaged, opened, quarantine
from profiles.compaction.windows import DAY, day_of, days_before, retained_since
from profiles.engine.blocks import HourBlock, build_day, build_hour, open_hour
from profiles.models import Block, Resolution
from profiles.storage.stored_bytes import together

log = logging.getLogger(__name__)

# A day that has a day block is summed again only when its newest hour block of out-of-order
# profiles is this old. Until then queries read those hour blocks besides the day block.
RESUM_AFTER = timedelta(hours=1)
BLOB_BYTES = 8 * 2**20  # a blob is written once its blocks have this size
MAX_DAYS = 64  # in one commit
MAX_BYTES = 256 * 2**20  # hour blocks of one day: all are in memory while they are summed


@dataclass(frozen=True, slots=True, order=True)
class DayHours:
    """Day of one service and type. `start` is midnight UTC."""

    service: str
    type: str
    start: datetime


def roll_up_days(project: int, now: datetime) -> int:
    """Roll up all pending days of a project, and return the number of day blocks stored."""
    made, waiting = 0, list[_Built]()
    for day in pending_days(project, now):
        if (built := _build(project, day)) is None:
            continue
        waiting.append(built)
        if sum(each.size for each in waiting) >= BLOB_BYTES or len(waiting) == MAX_DAYS:
            made += _store(project, waiting)
            waiting = []
    return made + _store(project, waiting)


def projects_with_pending_days(now: datetime) -> list[int]:
    """Return the projects with hour blocks of closed days that no day block covers."""
    rows = _uncovered(now).order_by()
    return sorted(rows.values_list("project_id", flat=True).distinct())


def pending_days(project: int, now: datetime) -> list[DayHours]:
    """Return the closed days with hour blocks that no day block covers.

    A day that has a day block already is excluded until RESUM_AFTER has passed since the newest
    of these hour blocks was created: more out-of-order profiles may follow. Days with level-0
    blocks wait until these are hour blocks, which takes an hour at most.
    """
    rows = _uncovered(now).filter(project=project).order_by()
    newest: dict[DayHours, datetime] = {}
    for service, type_, start, created in rows.values_list("service", "type", "start", "created"):
        day = DayHours(service, type_, day_of(start))
        newest[day] = max(created, newest.get(day, created))
    since = retained_since(project, now)  # retention deletes day blocks that begin earlier
    waiting = _days_with_level0(project)
    return sorted(
        day
        for day, created in newest.items()
        if day.start >= since and day not in waiting
        if created <= now - RESUM_AFTER or not _days(project, day)
    )


def _days_with_level0(project: int) -> set[DayHours]:
    rows = Block.objects.filter(project=project, is_level0=True, day_block=None, quarantined=False)
    return {
        DayHours(service, type_, day_of(start))
        for service, type_, start in rows.values_list("service", "type", "start")
    }


def _uncovered(now: datetime) -> QuerySet[Block]:
    """Return the hour blocks of closed days that no day block covers, without level-0 blocks.

    Level-0 blocks of closed days are of late profiles, and more are likely to follow.
    """
    return Block.objects.filter(
        resolution=Resolution.PROFILE,
        is_level0=False,
        day_block=None,
        quarantined=False,
        end__lte=days_before(now),
    )


def _days(project: int, day: DayHours) -> list[Block]:
    return list(_blocks(project, day, Resolution.DAY))


def _blocks(project: int, day: DayHours, resolution: Resolution) -> QuerySet[Block]:
    rows = Block.objects.filter(
        project=project,
        service=day.service,
        type=day.type,
        resolution=resolution,
        quarantined=False,
    )
    inside = rows.filter(start__gte=day.start, start__lt=day.start + DAY)
    return inside.select_related("blob").order_by("start", "pk")


@dataclass(frozen=True, slots=True)
class _Read:
    """Decoded hour blocks with their rows. Two or more will be merged into one block."""

    rows: list[Block]
    blocks: list[HourBlock]

    @property
    def profiles(self) -> int:
        return sum(row.profiles for row in self.rows)


@dataclass(frozen=True, slots=True)
class _Built:
    """New blocks of one day, and the sources that they replace."""

    day: DayHours
    new: list[NewBlock]
    sources: Sources

    @property
    def size(self) -> int:
        return sum(len(block.data) for block in self.new)


def _build(project: int, day: DayHours) -> _Built | None:
    """Build the blocks of one day.

    Return None if there is nothing to store, the hour blocks exceed MAX_BYTES, or building failed;
    then the blocks that are damaged, or all of them, are quarantined.
    """
    replaced = [row.pk for row in _days(project, day)]
    rows = list(_blocks(project, day, Resolution.PROFILE))
    if sum(row.length for row in rows) > MAX_BYTES:
        log.warning(
            "Rollup of %s of project %s was skipped: more than %s bytes", day, project, MAX_BYTES
        )
        return None
    pairs = opened(rows)
    try:
        new, sources = _built(day, _joinable(pairs))
    except UNREADABLE as error:
        quarantine(damaged(pairs) or rows, error)
        return None
    sources.blocks.extend(replaced)
    return _Built(day, new, sources) if new else None


def _store(project: int, built: Sequence[_Built]) -> int:
    """Store several days in one blob and one commit, and return the number of days stored.

    If sources are gone, store each day by itself and skip those whose sources are gone.
    """
    try:
        if built:
            replace_sources(project, _together(built), _all_sources(built))
        return len(built)
    except SourcesGone as error:
        if len(built) == 1:
            log.info("Rollup of %s of project %s was skipped: %s", built[0].day, project, error)
            return 0
    return sum(_store(project, [each]) for each in built)


def _together(built: Sequence[_Built]) -> list[NewBlock]:
    """Concatenate the new blocks of several days, with `covers_new` as indexes of all of them."""
    new: list[NewBlock] = []
    for each in built:
        at = len(new)
        new.extend(
            replace(block, covers_new=tuple(at + i for i in block.covers_new)) for block in each.new
        )
    return new


def _all_sources(built: Sequence[_Built]) -> Sources:
    return Sources(blocks=[pk for each in built for pk in each.sources.blocks])


def _joinable(pairs: Sequence[tuple[Block, HourBlock]]) -> list[_Read]:
    """Group blocks to merge: small adjacent blocks, and blocks of the same hour.

    `pairs` are in order of start.
    """
    groups: list[_Read] = []
    for row, block in pairs:
        last = groups[-1] if groups else None
        if last is None or not _fits(last, row):
            groups.append(_Read([row], [block]))
        else:
            last.rows.append(row)
            last.blocks.append(block)
    return groups


def _fits(group: _Read, row: Block) -> bool:
    """Return True if a block may be merged with a group of blocks before it."""
    same = row.start < max(each.end for each in group.rows)
    return group.profiles + row.profiles <= (MAX_PROFILES if same else SMALL)


def _built(day: DayHours, groups: Sequence[_Read]) -> tuple[list[NewBlock], Sources]:
    """Build merged hour blocks and the day block; the sources are the blocks that were merged."""
    new: list[NewBlock] = []
    sources, unmerged, blocks = Sources(), [], []
    for group in groups:
        if len(group.rows) == 1:
            unmerged.append(group.rows[0].pk)
            blocks.append(group.blocks[0])
            continue
        joined = _joined(day, group)
        new.append(joined)
        sources.blocks.extend(row.pk for row in group.rows)
        blocks.append(open_hour(joined.data))
    if blocks:
        new.append(_day(day, groups, blocks, unmerged, len(new)))
    return new, sources


def _joined(day: DayHours, group: _Read) -> NewBlock:
    return new_hour(
        build_hour([], [(block, None) for block in group.blocks]),
        service=day.service,
        type=day.type,
        start=min(row.start for row in group.rows),
        end=max(row.end for row in group.rows),
        counts=together(row.arrived for row in group.rows),
    )


def _day(
    day: DayHours,
    groups: Sequence[_Read],
    blocks: Sequence[HourBlock],
    unmerged: Sequence[int],
    joined: int,
) -> NewBlock:
    """Build the day block.

    It covers the hour blocks `unmerged`, given by Block.pk, and the first `joined` new blocks.
    """
    return new_day(
        build_day(blocks),
        service=day.service,
        type=day.type,
        start=day.start,
        end=day.start + DAY,
        counts=together(row.arrived for group in groups for row in group.rows),
        covers=tuple(unmerged),
        covers_new=tuple(range(joined)),
    )
