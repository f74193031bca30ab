"""Build new blocks from the sources of a compaction.

Nothing is written: a Replacement has the new blocks, and the marks for sources that cannot be read.
These are quarantined: excluded from further compaction, and reported by queries. New blocks are
decoded again: this gives their summaries and proves that they are readable.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

from profiles.compaction.plan import CompactionStep, Span, find_blocks
from profiles.compaction.replace import NewBlock, Replacement
from profiles.engine.blocks import (
    COMPRESSION_LEVEL,
    BlockProfile,
    HourBlock,
    Mask,
    build_day,
    build_hour,
    open_day,
    open_hour,
)
from profiles.engine.encoding.codec import decode
from profiles.engine.encoding.compression import FAST_COMPRESSION_LEVEL
from profiles.engine.errors import BadProfile, BadTree, TooLarge
from profiles.engine.timestamps import micros
from profiles.models import Block, BlockLevel, Profile, Resolution, TimeSource
from profiles.storage.blob_store import get_location, read, section_source
from profiles.storage.blobs import BlobMissing
from profiles.storage.block_summary import COARSE, FINE, FINEST, build_summary
from profiles.storage.stored_bytes import Arrived, Counts, add_counts, divide_length

log = logging.getLogger(__name__)

MAX_DAY_BYTES = 256 * 2**20  # hour blocks of one day: each is read several times
MAX_WHOLE_BYTES = 16 * 2**20  # blocks of one step that are read whole; of more, one section each
_MINUTE = timedelta(minutes=1)
_UNREADABLE = (BadTree, BadProfile, TooLarge)

DecodedBlocks = Sequence[tuple[Block, HourBlock]]  # rows of blocks, with their decoded bytes


def build_step(project: int, step: CompactionStep) -> Replacement:
    """Read the sources of a step and build its blocks.

    Raise BlobUnavailable if a source cannot be read at the moment, and BlobMissing if it was
    deleted meanwhile.
    """
    if step.level == BlockLevel.LEVEL_2:
        return _build_level2(project, step.span)
    if len(step.sources) == 1 and step.sources[0].is_block:
        return Replacement(promoted=[step.sources[0].pk])
    rows = [source.pk for source in step.sources if not source.is_block]
    blocks = [source.pk for source in step.sources if source.is_block]
    stored = Block.objects.filter(project=project, pk__in=blocks).select_related("blob")
    builder = _HoursBuilder(step.level, step.span)
    decoded = _open_blocks([*stored.order_by("pk")], builder.replacement)
    builder.build([*Profile.objects.filter(project=project, pk__in=rows)], decoded)
    return builder.replacement


class _HoursBuilder:
    """Builder of blocks of level 0 or 1 from head rows and blocks.

    It makes one block of all sources if possible, else several of fewer sources. The block of level
    2 that sums a source is deleted with it.
    """

    def __init__(self, level: BlockLevel, span: Span) -> None:
        self._level, self._span = level, span
        self.replacement = Replacement()

    def build(self, rows: Sequence[Profile], blocks: DecodedBlocks) -> None:
        if not rows and len(blocks) <= 1:
            self.replacement.promoted.extend(row.pk for row, _ in blocks)
            return
        is_level0 = self._level == BlockLevel.LEVEL_0
        try:
            data = build_hour(
                [block_profile(row) for row in rows],
                [(block, None) for _, block in blocks],
                compression_level=FAST_COMPRESSION_LEVEL if is_level0 else COMPRESSION_LEVEL,
            )
        except _UNREADABLE as error:
            for fewer_rows, fewer_blocks in self._reduce_sources(rows, blocks, error):
                self.build(fewer_rows, fewer_blocks)
            return
        self._add(data, rows, [row for row, _ in blocks])

    def _add(self, data: bytes, rows: Sequence[Profile], blocks: Sequence[Block]) -> None:
        start, end = self._span.start, self._span.end
        if self._level == BlockLevel.LEVEL_0:
            # The times of the rows in whole minutes: a query whose range ends between two level-0
            # blocks then need not read either in part.
            times = [row.time.replace(second=0, microsecond=0) for row in rows]
            start, end = min(times), max(times) + _MINUTE
        arrived = _count_arrived_bytes(rows)
        counts = add_counts([arrived, *(row.arrived for row in blocks)])
        result = self.replacement
        span = self._span._replace(start=start, end=end)
        result.new.append(new_hour_block(self._level, span, data, counts))
        result.rows.extend(row.pk for row in rows)
        result.arrived = dict(add_counts([result.arrived, arrived]))
        days = {row.day_block_id for row in blocks} - {None, *result.blocks}
        result.blocks.extend([*(row.pk for row in blocks), *(day for day in days if day)])

    def _reduce_sources(
        self, rows: Sequence[Profile], blocks: DecodedBlocks, error: Exception
    ) -> list[tuple[Sequence[Profile], DecodedBlocks]]:
        """Return smaller sets of sources to try after no block could be built of all.

        Unreadable rows and damaged blocks are quarantined. Then, in this order: leave out the
        unreadable rows, leave out the blocks, halve the rows.
        """
        readable = self._select_readable(rows)
        if len(readable) < len(rows):
            return [(readable, blocks)]
        if blocks:
            damaged = _find_damaged(blocks)
            self.replacement.quarantined_blocks |= {row.pk: str(error) for row in damaged}
            if isinstance(error, TooLarge) and not damaged and len(blocks) > 1:
                middle = len(blocks) // 2
                return [(rows, blocks[:middle]), ([], blocks[middle:])]
            self.replacement.promoted.extend(row.pk for row, _ in blocks)
            return [(rows, [])]
        if len(rows) == 1:
            self.replacement.quarantined_rows[rows[0].pk] = str(error)
            return []
        middle = len(rows) // 2
        return [(rows[:middle], []), (rows[middle:], [])]

    def _select_readable(self, rows: Sequence[Profile]) -> list[Profile]:
        readable = []
        for row in rows:
            try:
                decode(bytes(row.tree))
            except BadTree as error:
                self.replacement.quarantined_rows[row.pk] = str(error)
            else:
                readable.append(row)
        return readable


def _count_arrived_bytes(rows: Sequence[Profile]) -> Arrived:
    """Return the bytes of the rows' trees by day of arrival."""
    sizes: Counter[str] = Counter()
    for row in rows:
        sizes[row.stored_at.astimezone(UTC).date().isoformat()] += len(row.tree)
    return dict(sizes)


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


def _build_level2(project: int, day: Span) -> Replacement:
    """Sum the hour blocks of a day into a block of level 2, which replaces an earlier one.

    The result has no block if there are no hour blocks, if they exceed MAX_DAY_BYTES, or if
    building failed; then the blocks that are damaged are quarantined.
    """
    # Read before the hours: if another process sums them meanwhile, they are gone for this one.
    earlier = [*find_blocks(project, day, Resolution.DAY).values_list("pk", flat=True)]
    rows = [*find_blocks(project, day, Resolution.PROFILE)]
    if sum(row.length for row in rows) > MAX_DAY_BYTES:
        log.warning(
            "Rollup of %s of project %s was skipped: more than %s bytes",
            day,
            project,
            MAX_DAY_BYTES,
        )
        return Replacement()
    result = Replacement()
    hours = _open_blocks(rows, result)
    if not hours:
        return result
    try:
        result.new.append(_sum_day(day, hours))
    except _UNREADABLE as error:
        damaged = _find_damaged(hours)
        if not damaged and not isinstance(error, TooLarge):
            damaged = rows
        result.quarantined_blocks |= {row.pk: str(error) for row in damaged}
        return result
    result.blocks.extend(earlier)
    return result


def _sum_day(day: Span, hours: DecodedBlocks) -> NewBlock:
    data = build_day([block for _, block in hours])
    block = open_day(data)
    summary = build_summary(
        block.profiles, COARSE, by_labels=block.by_labels, moments=block.has_variance
    )
    return NewBlock(
        level=BlockLevel.LEVEL_2,
        service=day.service,
        type=day.type,
        start=day.start,
        end=day.end,
        data=data,
        profiles=block.count,
        summary=summary,
        arrived=divide_length(len(data), add_counts(row.arrived for row, _ in hours)),
        hour_blocks=tuple(row.pk for row, _ in hours),
    )


def build_cut(project: int, pk: int, limit: datetime) -> Replacement:
    """Build an hour block again without its profiles before `limit`.

    The result is empty if the block is gone. Raise like `build_step`.
    """
    result = Replacement()
    stored = Block.objects.filter(project=project, pk=pk).select_related("blob")
    for row, block in _open_blocks([*stored], result):
        try:
            data = build_hour([], [(block, block.profiles.time >= micros(limit))])
        except BadTree as error:
            result.quarantined_blocks[row.pk] = str(error)
            continue
        span = Span(row.service, row.type, limit, row.end)
        result.new.append(new_hour_block(BlockLevel.LEVEL_1, span, data, row.arrived))
        result.blocks.append(row.pk)
    return result


class DeletedPart(NamedTuple):
    """Profiles of a block that are to be deleted; None does not restrict them."""

    deployments: tuple[int, ...] | None  # Deployment.pk
    start: datetime | None  # start <= time < end
    end: datetime | None


def build_without(project: int, pk: int, part: DeletedPart) -> Replacement:
    """Build an hour block again without a part of its profiles.

    The result is empty if the block is gone or has no such profile. A block that cannot be read is
    deleted as a whole: nobody can tell which of its bytes belong to the part. Raise
    BlobUnavailable if it cannot be read at the moment.
    """
    result = Replacement()
    row = Block.objects.filter(project=project, pk=pk).select_related("blob").first()
    if row is None:
        return result
    days = [] if row.day_block_id is None else [row.day_block_id]
    try:
        block = open_hour(section_source(get_location(row)))
        retained = ~_mark_part(block, part)
        if retained.all():
            return result
        data = build_hour([], [(block, retained)]) if retained.any() else None
    except (BadTree, BlobMissing) as error:
        log.error("Block %d of project %d is deleted as a whole: %s", pk, project, error)
        data = None
    if data is not None:
        level = BlockLevel.LEVEL_0 if row.is_level0 else BlockLevel.LEVEL_1
        span = Span(row.service, row.type, row.start, row.end)
        result.new.append(new_hour_block(level, span, data, row.arrived))
    result.blocks.extend([row.pk, *days])
    return result


def _mark_part(block: HourBlock, part: DeletedPart) -> Mask:
    profiles = block.profiles
    mask = np.ones(len(profiles.time), np.bool_)
    if part.deployments is not None:
        mask &= np.isin(profiles.deployment, part.deployments)
    if part.start is not None:
        mask &= profiles.time >= micros(part.start)
    if part.end is not None:
        mask &= profiles.time < micros(part.end)
    return mask


def new_hour_block(level: BlockLevel, span: Span, data: bytes, counts: Counts) -> NewBlock:
    """Make a block of level 0 or 1 from the output of `build_hour`.

    `counts` are the bytes of its sources by day of arrival.
    """
    block = open_hour(data)
    identities = block.identities
    times = zip(identities.name_id, identities.time_source, strict=True)
    return NewBlock(
        level=level,
        service=span.service,
        type=span.type,
        start=span.start,
        end=span.end,
        data=data,
        profiles=block.count,
        summary=build_summary(block.profiles, FINEST if level == BlockLevel.LEVEL_0 else FINE),
        arrived=divide_length(len(data), counts),
        # Profiles that have no time of their own may be repeated at any time.
        deduplication_keys=tuple(name for name, time in times if time == TimeSource.ARRIVAL),
    )


def _open_blocks(rows: Sequence[Block], result: Replacement) -> DecodedBlocks:
    """Open the blocks; those that are damaged or missing are quarantined and left out.

    Raise BlobUnavailable if the store fails: a retry may then succeed.
    """
    is_small = sum(row.length for row in rows) <= MAX_WHOLE_BYTES
    decoded = []
    for row in rows:
        location = get_location(row)
        try:
            source = read(location) if is_small else section_source(location)
            decoded.append((row, open_hour(source)))
        except (BadTree, BlobMissing) as error:
            result.quarantined_blocks[row.pk] = str(error)
    return decoded


def _find_damaged(blocks: DecodedBlocks) -> list[Block]:
    """Return the rows of the blocks that cannot even be rebuilt alone."""
    damaged = []
    for row, block in blocks:
        try:
            build_hour([], [(block, None)])
        except _UNREADABLE:
            damaged.append(row)
    return damaged
