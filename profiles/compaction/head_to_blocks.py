"""Build blocks from the head rows of an hour, together with its level-0 blocks."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from profiles.compaction.new_blocks import new_hour
from profiles.compaction.replace import NewBlock, Sources, SourcesGone, replace_sources
from profiles.compaction.stored_hours import UNREADABLE, damaged, opened, quarantine
from profiles.engine.blocks import LEVEL, BlockProfile, HourBlock, build_hour
from profiles.engine.encoding.codec import decode
from profiles.engine.encoding.compression import FAST
from profiles.engine.errors import BadTree
from profiles.engine.timestamps import micros
from profiles.models import Block, Profile
from profiles.storage.stored_bytes import Arrived, together

log = logging.getLogger(__name__)

MAX_PROFILES = 4096  # in one block
# Profiles that adjacent hours may have together to share a block: for fewer, a block for each hour
# costs queries more than the profiles outside of their range that a shared block makes them skip.
SMALL = 256
MAX_SOURCE_BYTES = 64 * 2**20  # encoded trees and level-0 blocks in memory while one block is built
BLOB_BYTES = 8 * 2**20  # a blob is written once its blocks have this size
MAX_ROWS = 4096  # rows deleted from the head in one commit: SQLite has no other writer meanwhile
MINUTE = timedelta(minutes=1)
Level0Blocks = Sequence[tuple[Block, HourBlock]]


class Hours(NamedTuple):
    """Hours of one day of one service and type. `start` and `end` are full hours in UTC."""

    service: str
    type: str
    start: datetime
    end: datetime


class Source(NamedTuple):
    """Input of a new block: a head row or a level-0 block."""

    pk: int  # Profile.pk, or Block.pk if `is_block`
    size: int  # bytes
    profiles: int = 1
    is_block: bool = False


def shares(sources: Iterable[Source]) -> Iterator[list[Source]]:
    """Split the sources, in their order, into lists that each become one block.

    A list has at most MAX_PROFILES profiles and MAX_SOURCE_BYTES bytes, or a single source.
    """
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


@dataclass(frozen=True, slots=True)
class _Made:
    """New block with its sources."""

    block: NewBlock
    rows: Sequence[Profile]
    arrived: Arrived  # bytes of the rows by day of arrival
    level0_blocks: Sequence[Block]


class BlockBatch:
    """Blocks that are stored in one blob and one commit."""

    def __init__(self, project: int) -> None:
        self._project = project
        self._clear()

    def _clear(self) -> None:
        self._new: list[NewBlock] = []
        self._sources = Sources()

    @property
    def is_full(self) -> bool:
        size = sum(len(block.data) for block in self._new)
        return size >= BLOB_BYTES or len(self._sources.head) >= MAX_ROWS

    def add(self, hours: Hours, share: Sequence[Source], *, is_level0: bool) -> None:
        """Build blocks from the sources and add them to the batch.

        `is_level0` makes them level-0 blocks. Raise BlobUnavailable if a source block cannot
        be read at the moment.
        """
        head = [source.pk for source in share if not source.is_block]
        blocks = [source.pk for source in share if source.is_block]
        rows = list(Profile.objects.filter(project=self._project, pk__in=head))
        found = Block.objects.filter(project=self._project, pk__in=blocks).select_related("blob")
        for made in _made(hours, rows, opened([*found.order_by("pk")]), is_level0):
            self._new.append(made.block)
            self._sources.head.extend(row.pk for row in made.rows)
            self._sources.blocks.extend(row.pk for row in made.level0_blocks)
            removed = together([self._sources.head_arrived, made.arrived])
            self._sources.head_arrived = dict(removed)

    def move(self) -> int:
        """Store the batch, empty it, and return how many profiles left the head.

        Store nothing and return 0 if another process has moved or deleted a source.
        """
        moved = len(self._sources.head)
        try:
            if self._new:
                replace_sources(self._project, self._new, self._sources)
        except SourcesGone as error:
            log.info("Compaction of project %s was skipped: %s", self._project, error)
            moved = 0
        self._clear()
        return moved


def _made(
    hours: Hours, rows: Sequence[Profile], level0_blocks: Level0Blocks, is_level0: bool
) -> Iterator[_Made]:
    """Yield one block of all sources if possible, else several blocks of fewer sources.

    Sources that cannot be read are quarantined.
    """
    if not rows and not level0_blocks:
        return
    profiles = [block_profile(row) for row in rows]
    try:
        data = build_hour(
            profiles,
            [(block, None) for _, block in level0_blocks],
            level=FAST if is_level0 else LEVEL,
        )
    except UNREADABLE as error:
        for fewer_rows, fewer_blocks in _fewer(rows, level0_blocks, error):
            yield from _made(hours, fewer_rows, fewer_blocks, is_level0)
        return
    start, end = _span(rows) if is_level0 else hours[2:]
    arrived, level0_rows = _arrived(rows), [row for row, _ in level0_blocks]
    yield _Made(
        new_hour(
            data,
            service=hours.service,
            type=hours.type,
            start=start,
            end=end,
            counts=together([arrived, *(row.arrived for row in level0_rows)]),
            is_level0=is_level0,
        ),
        rows,
        arrived,
        level0_rows,
    )


def _span(rows: Sequence[Profile]) -> tuple[datetime, datetime]:
    """Return the time range of the rows, rounded outwards to whole minutes.

    A query whose range ends between two level-0 blocks then need not read either in part.
    """
    first, last = min(row.time for row in rows), max(row.time for row in rows)
    return first.replace(second=0, microsecond=0), last.replace(second=0, microsecond=0) + MINUTE


def _arrived(rows: Sequence[Profile]) -> Arrived:
    """Return the bytes of the rows' trees by day of arrival."""
    sizes: Counter[str] = Counter()
    for row in rows:
        sizes[row.stored_at.astimezone(UTC).date().isoformat()] += len(row.tree)
    return dict(sizes)


def _fewer(
    rows: Sequence[Profile], level0_blocks: Level0Blocks, error: Exception
) -> list[tuple[Sequence[Profile], Level0Blocks]]:
    """Return smaller sets of sources to try after no block could be built of all.

    Unreadable rows and damaged level-0 blocks are quarantined. Then, in this order: leave out
    the unreadable rows, leave out the level-0 blocks, halve the rows.
    """
    good = _readable(rows)
    if len(good) < len(rows):
        return [(good, level0_blocks)]
    if level0_blocks:
        quarantine(damaged(level0_blocks), error)
        leave([row.pk for row, _ in level0_blocks])
        return [(rows, [])]
    if len(rows) == 1:
        _quarantine(rows[0], error)
        return []
    middle = len(rows) // 2
    return [(rows[:middle], []), (rows[middle:], [])]


def leave(level0_blocks: Sequence[int]) -> None:
    """Turn level-0 blocks, given by Block.pk, into hour blocks without rewriting them."""
    Block.objects.filter(pk__in=level0_blocks).update(is_level0=False)


def _readable(rows: Sequence[Profile]) -> list[Profile]:
    good = []
    for row in rows:
        try:
            decode(bytes(row.tree))
        except BadTree as error:
            _quarantine(row, error)
        else:
            good.append(row)
    return good


def _quarantine(row: Profile, error: Exception) -> None:
    """Exclude a head row from compaction and log the reason; queries report it."""
    log.error("Profile %s of project %s is quarantined: %s", row.name_id, row.project_id, error)
    Profile.objects.filter(pk=row.pk).update(quarantined=True)


def block_profile(row: Profile) -> BlockProfile:
    """Convert a head row to the input of the block builder."""
    return BlockProfile(
        name_id=row.name_id,
        time=micros(row.time),
        time_source=row.time_source,
        deployment=row.deployment_id,
        agent=row.agent_id,
        duration_ns=row.duration_ns,
        weight=row.weight,
        samples=row.samples,
        labels=row.labels,
        totals=[(name, unit, total) for name, unit, total in row.totals],
        body_hash=bytes(row.body_hash),
        tree=bytes(row.tree),
    )
