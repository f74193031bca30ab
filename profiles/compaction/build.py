"""Build new blocks from the sources of a compaction.

Sources that cannot be read are quarantined: excluded from further compaction, and reported by
queries. New blocks are decoded again: this gives their summaries and proves that they are readable.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, timedelta

from profiles.compaction.plan import (
    MAX_PROFILES,
    MAX_SHARED_PROFILES,
    Source,
    Span,
    find_blocks,
)
from profiles.compaction.replace import NewBlock, Replacement
from profiles.engine.blocks import (
    COMPRESSION_LEVEL,
    BlockProfile,
    HourBlock,
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
from profiles.storage.blob_store import get_location, read
from profiles.storage.blobs import BlobMissing
from profiles.storage.block_summary import COARSE, FINE, FINEST, build_summary
from profiles.storage.stored_bytes import Arrived, Counts, add_counts, divide_length

log = logging.getLogger(__name__)

MAX_DAY_BYTES = 256 * 2**20  # hour blocks of one day: all are in memory while they are summed
_MINUTE = timedelta(minutes=1)
_UNREADABLE = (BadTree, BadProfile, TooLarge)

DecodedBlocks = Sequence[tuple[Block, HourBlock]]  # rows of blocks, with their decoded bytes


def build_hours(
    project: int, level: BlockLevel, span: Span, sources: Sequence[Source]
) -> Replacement:
    """Build blocks of level 0 or 1 from head rows and level-0 blocks.

    It is one block of all sources if possible, else several of fewer sources. Raise BlobUnavailable
    if a source block cannot be read at the moment.
    """
    pks = [source.pk for source in sources if not source.is_block]
    blocks = [source.pk for source in sources if source.is_block]
    rows = list(Profile.objects.filter(project=project, pk__in=pks))
    stored = Block.objects.filter(project=project, pk__in=blocks).select_related("blob")
    replacement = Replacement()
    for each in _build_hours(level, span, rows, _open_blocks(stored.order_by("pk"))):
        replacement.new.extend(each.new)
        replacement.rows.extend(each.rows)
        replacement.blocks.extend(each.blocks)
        replacement.arrived = dict(add_counts([replacement.arrived, each.arrived]))
    return replacement


def _build_hours(
    level: BlockLevel, span: Span, rows: Sequence[Profile], level0: DecodedBlocks
) -> Iterator[Replacement]:
    if not rows and not level0:
        return
    try:
        data = build_hour(
            [block_profile(row) for row in rows],
            [(block, None) for _, block in level0],
            compression_level=FAST_COMPRESSION_LEVEL
            if level == BlockLevel.LEVEL_0
            else COMPRESSION_LEVEL,
        )
    except _UNREADABLE as error:
        for fewer_rows, fewer_blocks in _reduce_sources(rows, level0, error):
            yield from _build_hours(level, span, fewer_rows, fewer_blocks)
        return
    start, end = span.start, span.end
    if level == BlockLevel.LEVEL_0:
        # The times of the rows in whole minutes: a query whose range ends between two level-0
        # blocks then need not read either in part.
        times = [row.time.replace(second=0, microsecond=0) for row in rows]
        start, end = min(times), max(times) + _MINUTE
    arrived = _count_arrived_bytes(rows)
    counts = add_counts([arrived, *(row.arrived for row, _ in level0)])
    yield Replacement(
        new=[new_hour_block(level, span._replace(start=start, end=end), data, counts)],
        rows=[row.pk for row in rows],
        arrived=arrived,
        blocks=[row.pk for row, _ in level0],
    )


def _reduce_sources(
    rows: Sequence[Profile], level0: DecodedBlocks, error: Exception
) -> list[tuple[Sequence[Profile], DecodedBlocks]]:
    """Return smaller sets of sources to try after no block could be built of all.

    Unreadable rows and damaged level-0 blocks are quarantined. Then, in this order: leave out
    the unreadable rows, leave out the level-0 blocks, halve the rows.
    """
    readable = _select_readable(rows)
    if len(readable) < len(rows):
        return [(readable, level0)]
    if level0:
        quarantine_blocks(_find_damaged(level0), error)
        promote_to_level1([row.pk for row, _ in level0])
        return [(rows, [])]
    if len(rows) == 1:
        _quarantine_row(rows[0], error)
        return []
    middle = len(rows) // 2
    return [(rows[:middle], []), (rows[middle:], [])]


def _select_readable(rows: Sequence[Profile]) -> list[Profile]:
    readable = []
    for row in rows:
        try:
            decode(bytes(row.tree))
        except BadTree as error:
            _quarantine_row(row, error)
        else:
            readable.append(row)
    return readable


def promote_to_level1(level0_blocks: Sequence[int]) -> None:
    """Turn level-0 blocks, given by Block.pk, into hour blocks without rewriting them."""
    Block.objects.filter(pk__in=level0_blocks).update(is_level0=False)


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


def build_level2(project: int, day: Span) -> Replacement:
    """Merge the small hour blocks of a day, and sum all of them into a block of level 2.

    An earlier block of level 2 of the day is replaced. The result has no block if there are no
    hour blocks, if they exceed MAX_DAY_BYTES, or if building failed; then the blocks that are
    damaged, or all of them, are quarantined. Raise BlobUnavailable if an hour block cannot be read
    at the moment.
    """
    earlier = find_blocks(project, day, Resolution.DAY)
    replacement = Replacement(blocks=list(earlier.values_list("pk", flat=True)))
    rows = list(find_blocks(project, day, Resolution.PROFILE))
    if sum(row.length for row in rows) > MAX_DAY_BYTES:
        log.warning(
            "Rollup of %s of project %s was skipped: more than %s bytes",
            day,
            project,
            MAX_DAY_BYTES,
        )
        return Replacement()
    hours = _open_blocks(rows)
    if not hours:
        return Replacement()
    try:
        _add_day(day, hours, replacement)
    except _UNREADABLE as error:
        quarantine_blocks(_find_damaged(hours) or rows, error)
        return Replacement()
    return replacement


def _add_day(day: Span, hours: DecodedBlocks, replacement: Replacement) -> None:
    unmerged: list[int] = []
    blocks: list[HourBlock] = []
    for group in _group_mergeable(hours):
        if len(group) == 1:
            unmerged.append(group[0][0].pk)
            blocks.append(group[0][1])
            continue
        merged = _merge_hours(group)
        replacement.new.append(merged)
        replacement.blocks.extend(row.pk for row, _ in group)
        blocks.append(open_hour(merged.data))
    data = build_day(blocks)
    block = open_day(data)
    summary = build_summary(
        block.profiles, COARSE, by_labels=block.by_labels, moments=block.has_variance
    )
    replacement.new.append(
        NewBlock(
            level=BlockLevel.LEVEL_2,
            service=day.service,
            type=day.type,
            start=day.start,
            end=day.end,
            data=data,
            profiles=block.count,
            summary=summary,
            arrived=divide_length(len(data), add_counts(row.arrived for row, _ in hours)),
            hour_blocks=tuple(unmerged),
            new_hour_blocks=tuple(replacement.new),
        )
    )


def _group_mergeable(hours: DecodedBlocks) -> list[list[tuple[Block, HourBlock]]]:
    """Group blocks to merge: small adjacent blocks, and blocks of the same hour.

    `hours` are in order of start.
    """
    groups: list[list[tuple[Block, HourBlock]]] = []
    for row, block in hours:
        if groups:
            before = [earlier for earlier, _ in groups[-1]]
            overlaps = row.start < max(earlier.end for earlier in before)
            limit = MAX_PROFILES if overlaps else MAX_SHARED_PROFILES
            if sum(earlier.profiles for earlier in before) + row.profiles <= limit:
                groups[-1].append((row, block))
                continue
        groups.append([(row, block)])
    return groups


def _merge_hours(group: DecodedBlocks) -> NewBlock:
    rows = [row for row, _ in group]
    span = Span(
        rows[0].service,
        rows[0].type,
        min(row.start for row in rows),
        max(row.end for row in rows),
    )
    data = build_hour([], [(block, None) for _, block in group])
    return new_hour_block(BlockLevel.LEVEL_1, span, data, add_counts(row.arrived for row in rows))


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


def _open_blocks(rows: Iterable[Block]) -> DecodedBlocks:
    """Decode the blocks; those that are damaged or missing are quarantined and left out.

    Raise BlobUnavailable if the store fails: a retry may then succeed.
    """
    decoded = []
    for row in rows:
        try:
            decoded.append((row, open_hour(read(get_location(row)))))
        except (BadTree, BlobMissing) as error:
            quarantine_blocks([row], error)
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


def quarantine_blocks(rows: Sequence[Block], error: Exception) -> None:
    for row in rows:
        log.error("Block %s of project %s is quarantined: %s", row, row.project_id, error)
    Block.objects.filter(pk__in=[row.pk for row in rows]).update(quarantined=True)


def _quarantine_row(row: Profile, error: Exception) -> None:
    log.error("Profile %s of project %s is quarantined: %s", row.name_id, row.project_id, error)
    Profile.objects.filter(pk=row.pk).update(quarantined=True)
