"""Move: what is stored in one place comes to be stored in another, in one commit."""

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from profiles.models import Blob, Block, BlockLevel, KeptName, Profile
from profiles.storage import stored_bytes
from profiles.storage.blobs import BlobError, blobs, new_key
from profiles.storage.block_summary import BlockSummary
from profiles.storage.stored_bytes import Arrived
from profiles.timestamps import moment

log = logging.getLogger(__name__)
_ROWS_A_STATEMENT = 500


class SourcesGone(Exception):
    """Someone else has moved or deleted what was to be moved: nothing was changed."""


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block that was built, and what it replaces."""

    service: str
    type: str
    level: BlockLevel
    start: datetime
    end: datetime
    data: bytes
    profiles: int
    summary: BlockSummary
    arrived: Arrived
    kept_names: tuple[str, ...] = ()
    is_part: bool = False
    covers: tuple[int, ...] = ()  # Block.pk, which stay
    covers_new: tuple[int, ...] = ()  # the same, by place in the list that this one is in


@dataclass(slots=True)
class Sources:
    """What vanishes in the commit, with the bytes that it was counted with."""

    head: list[int] = field(default_factory=list)  # Profile.pk
    head_arrived: Arrived = field(default_factory=dict)
    blocks: list[int] = field(default_factory=list)  # Block.pk


def replace_sources(project: int, new: Sequence[NewBlock], sources: Sources) -> list[Block]:
    """Write the blocks into one blob, and let them take the place of their sources.

    SourcesGone if those are not all there any more, BlobError if the store fails; then
    everything is as before.
    """
    key = new_key(project)
    if new:
        blobs().put(key, b"".join(block.data for block in new))
    try:
        with transaction.atomic():
            return _commit(project, key, new, sources)
    except SourcesGone:
        if new:
            with contextlib.suppress(BlobError):  # it is swept some day
                blobs().delete(key)
        raise


def _commit(project: int, key: str, new: Sequence[NewBlock], sources: Sources) -> list[Block]:
    gone = _remove_blocks(project, sources.blocks)
    _remove_head(project, sources.head)
    rows = _add(project, key, new) if new else []
    _cover(project, rows, new)
    stored_bytes.move(project, [block.arrived for block in new], [*gone, sources.head_arrived])
    return rows


def _add(project: int, key: str, new: Sequence[NewBlock]) -> list[Block]:
    size = sum(len(block.data) for block in new)
    blob = Blob.objects.create(project_id=project, key=key, size=size)
    rows, offset = [], 0
    for block in new:
        rows.append(_row(project, blob, offset, block))
        offset += len(block.data)
    Block.objects.bulk_create(rows)
    KeptName.objects.bulk_create(
        KeptName(block=row, project_id=project, name_id=name)
        for row, block in zip(rows, new, strict=True)
        for name in block.kept_names
    )
    return rows


def _row(project: int, blob: Blob, offset: int, new: NewBlock) -> Block:
    return Block(
        project_id=project,
        service=new.service,
        type=new.type,
        level=new.level,
        is_part=new.is_part,
        start=new.start,
        end=new.end,
        blob=blob,
        offset=offset,
        length=len(new.data),
        profiles=new.profiles,
        first=moment(new.summary["first"]),
        last=moment(new.summary["last"]),
        summary=new.summary,
        arrived=new.arrived,
    )


def _remove_head(project: int, pks: Sequence[int]) -> None:
    gone = 0
    for at in range(0, len(pks), _ROWS_A_STATEMENT):
        rows = Profile.objects.filter(project=project, pk__in=pks[at : at + _ROWS_A_STATEMENT])
        gone += rows.delete()[0]
    if gone != len(pks):
        raise SourcesGone(f"{len(pks) - gone} of {len(pks)} profiles are not in the head any more.")


def _remove_blocks(project: int, pks: Sequence[int]) -> list[Arrived]:
    """The bytes that they were counted with. Blobs that are empty then are marked so."""
    rows = list(locked_blocks(project, pks))
    if len(rows) != len(pks):
        raise SourcesGone(f"{len(pks) - len(rows)} of {len(pks)} blocks were replaced meanwhile.")
    if {row.covered_by_id for row in rows} - {None, *pks}:
        raise SourcesGone("Hours were summed in a day meanwhile.")
    Block.objects.filter(pk__in=pks).delete()
    emptied = Blob.objects.filter(pk__in={row.blob_id for row in rows}, blocks=None)
    emptied.update(dead_since=timezone.now())
    return [row.arrived for row in rows]


def locked_blocks(project: int, pks: Sequence[int]) -> QuerySet[Block]:
    """Those of the blocks that are there, until the end of the transaction."""
    return Block.objects.select_for_update().filter(project=project, pk__in=pks).order_by("pk")


def _cover(project: int, rows: Sequence[Block], new: Sequence[NewBlock]) -> None:
    for row, block in zip(rows, new, strict=True):
        covered = [*block.covers, *(rows[i].pk for i in block.covers_new)]
        if not covered:
            continue
        found = [row.pk for row in locked_blocks(project, covered) if row.covered_by_id is None]
        if len(found) != len(covered):
            raise SourcesGone("Hours of the day were replaced meanwhile.")
        Block.objects.filter(pk__in=covered).update(covered_by=row)
