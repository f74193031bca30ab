"""Replace stored profiles by new blocks in one commit."""

import contextlib
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from profiles.engine.timestamps import to_datetime
from profiles.models import (
    Blob,
    Block,
    BlockLevel,
    DeduplicationKey,
    DeletionJob,
    DeletionState,
    Profile,
    Resolution,
)
from profiles.storage import stored_bytes
from profiles.storage.blob_store import blobs
from profiles.storage.blobs import BlobError, new_key
from profiles.storage.block_summary import BlockSummary
from profiles.storage.stored_bytes import Arrived

log = logging.getLogger(__name__)
_ROWS_A_STATEMENT = 500


class SourcesGone(Exception):
    """Another process has moved or deleted a source; nothing was changed."""


@dataclass(frozen=True, slots=True, eq=False)
class NewBlock:
    """Encoded block that is ready to be stored, with the columns of its row."""

    level: BlockLevel
    service: str
    type: str
    start: datetime
    end: datetime
    data: bytes
    profiles: int
    summary: BlockSummary
    arrived: Arrived
    deduplication_keys: tuple[str, ...] = ()
    hour_blocks: tuple[int, ...] = ()  # Block.pk of the hour blocks that a block of level 2 sums


@dataclass(slots=True)
class Replacement:
    """Result of a build: new blocks, the sources that are deleted in their favour, and marks."""

    new: list[NewBlock] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  # Profile.pk
    # Bytes of these rows by day of arrival, to subtract from DayUsage.stored_bytes.
    arrived: Arrived = field(default_factory=dict)
    blocks: list[int] = field(default_factory=list)  # Block.pk
    # Sources that cannot be read, with the reason; queries report them as missing.
    quarantined_rows: dict[int, str] = field(default_factory=dict)  # by Profile.pk
    quarantined_blocks: dict[int, str] = field(default_factory=dict)  # by Block.pk
    promoted: list[int] = field(default_factory=list)  # level-0 blocks that become hour blocks

    @property
    def is_empty(self) -> bool:
        """Return True if there is nothing to store or mark."""
        marks = self.quarantined_rows or self.quarantined_blocks or self.promoted
        return not (self.new or self.rows or self.blocks or marks)


@dataclass(frozen=True, slots=True)
class DeletionCount:
    """Profiles and bytes that a replacement deletes for a DeletionJob (its pk)."""

    job: int
    profiles: int
    bytes: int


def replace_sources(
    project: int, replacements: Sequence[Replacement], count: DeletionCount | None = None
) -> None:
    """Write the new blocks into one blob, then add their rows and delete the sources atomically.

    The marks are set in the same commit, and a deletion is counted. Without new blocks, no blob is
    written. Raise SourcesGone if a source no longer exists, and BlobError if the store fails; in
    both cases the database is unchanged.
    """
    key, new = new_key(project), [block for each in replacements for block in each.new]
    if new:
        blobs().put(key, b"".join(block.data for block in new))
    try:
        with transaction.atomic():
            _commit(project, key, new, replacements)
            if count is not None:
                _count_deletion(count)
    except SourcesGone:
        if new:
            with contextlib.suppress(BlobError):  # blob_sweep.py deletes it later
                blobs().delete(key)
        raise


def _commit(
    project: int, key: str, new: Sequence[NewBlock], replacements: Sequence[Replacement]
) -> None:
    # Several merges of hours delete the same block of their day.
    blocks = dict.fromkeys(pk for each in replacements for pk in each.blocks)
    removed = _remove_blocks(project, [*blocks])
    _remove_rows(project, [pk for each in replacements for pk in each.rows])
    if new:
        _sum_hours(project, zip(new, _add(project, key, new), strict=True))
    for replacement in replacements:
        _set_marks(project, replacement)
    removed.extend(each.arrived for each in replacements)
    stored_bytes.move(project, [block.arrived for block in new], removed)


def _count_deletion(count: DeletionCount) -> None:
    jobs = DeletionJob.objects.filter(pk=count.job, state=DeletionState.DELETING)
    changed = jobs.update(
        profiles=F("profiles") + count.profiles, bytes=F("bytes") + count.bytes, has_deleted=True
    )
    if not changed:
        raise SourcesGone("The deletion was ended concurrently.")


def read_rows(rows: QuerySet[Profile], most: int) -> Replacement:
    """Return the replacement that deletes at most so many of these head rows."""
    arrived: Counter[str] = Counter()
    pks = []
    for pk, stored_at, length in rows.values_list("pk", "stored_at", Length("tree"))[:most]:
        pks.append(pk)
        arrived[stored_at.astimezone(UTC).date().isoformat()] += length
    return Replacement(rows=pks, arrived=dict(arrived))


def _add(project: int, key: str, new: Sequence[NewBlock]) -> list[Block]:
    size = sum(len(block.data) for block in new)
    blob = Blob.objects.create(project_id=project, key=key, size=size)
    rows, offset = [], 0
    for block in new:
        rows.append(_row(project, blob, offset, block))
        offset += len(block.data)
    Block.objects.bulk_create(rows)
    DeduplicationKey.objects.bulk_create(
        DeduplicationKey(block=row, project_id=project, name_id=name)
        for row, block in zip(rows, new, strict=True)
        for name in block.deduplication_keys
    )
    return rows


def _row(project: int, blob: Blob, offset: int, new: NewBlock) -> Block:
    return Block(
        project_id=project,
        service=new.service,
        type=new.type,
        resolution=Resolution.DAY if new.level == BlockLevel.LEVEL_2 else Resolution.PROFILE,
        is_level0=new.level == BlockLevel.LEVEL_0,
        start=new.start,
        end=new.end,
        blob=blob,
        offset=offset,
        length=len(new.data),
        profiles=new.profiles,
        first=to_datetime(new.summary["first"]),
        last=to_datetime(new.summary["last"]),
        summary=new.summary,
        arrived=new.arrived,
    )


def _remove_rows(project: int, pks: Sequence[int]) -> None:
    removed = 0
    for start in range(0, len(pks), _ROWS_A_STATEMENT):
        some = pks[start : start + _ROWS_A_STATEMENT]
        removed += Profile.objects.filter(project=project, pk__in=some).delete()[0]
    if removed != len(pks):
        raise SourcesGone(f"{len(pks) - removed} of {len(pks)} profiles are no longer in the head.")


def _remove_blocks(project: int, pks: Sequence[int]) -> list[Arrived]:
    """Delete blocks and mark blobs without blocks as dead.

    Return the bytes of each block by day of arrival. Raise SourcesGone if a block is missing or is
    summed by a level-2 block that is not deleted with it.
    """
    rows = list(lock_blocks(project, pks))
    if len(rows) != len(pks):
        raise SourcesGone(
            f"{len(pks) - len(rows)} of {len(pks)} blocks were replaced concurrently."
        )
    if {row.day_block_id for row in rows} - {None, *pks}:
        raise SourcesGone("Hour blocks were rolled up concurrently.")
    Block.objects.filter(pk__in=pks).delete()
    emptied = Blob.objects.filter(pk__in={row.blob_id for row in rows}, blocks=None)
    emptied.update(dead_since=timezone.now())
    return [row.arrived for row in rows]


def lock_blocks(project: int, pks: Sequence[int]) -> QuerySet[Block]:
    """Select and lock the blocks that still exist, until the end of the transaction.

    They are locked in order of pk, so that concurrent transactions do not deadlock.
    """
    return Block.objects.select_for_update().filter(project=project, pk__in=pks).order_by("pk")


def _set_marks(project: int, replacement: Replacement) -> None:
    for pk, reason in replacement.quarantined_rows.items():
        log.error("Profile %d of project %d is quarantined: %s", pk, project, reason)
    for pk, reason in replacement.quarantined_blocks.items():
        log.error("Block %d of project %d is quarantined: %s", pk, project, reason)
    profiles, blocks = (
        Profile.objects.filter(project=project),
        Block.objects.filter(project=project),
    )
    if replacement.quarantined_rows:
        profiles.filter(pk__in=[*replacement.quarantined_rows]).update(quarantined=True)
    if replacement.quarantined_blocks:
        blocks.filter(pk__in=[*replacement.quarantined_blocks]).update(quarantined=True)
    if replacement.promoted:
        blocks.filter(pk__in=replacement.promoted).update(is_level0=False)


def _sum_hours(project: int, rows: Iterable[tuple[NewBlock, Block]]) -> None:
    """Let the hour blocks that new blocks of level 2 sum refer to these.

    Raise SourcesGone if one is missing or summed already.
    """
    for block, row in rows:
        hours = block.hour_blocks
        if not hours:
            continue
        unsummed = [hour for hour in lock_blocks(project, hours) if hour.day_block_id is None]
        if len(unsummed) != len(hours):
            raise SourcesGone("Hour blocks of the day were replaced concurrently.")
        Block.objects.filter(pk__in=hours).update(day_block=row)
