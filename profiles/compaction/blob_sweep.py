"""Garbage collection of blobs: delete unused and unknown ones, repack those that are half empty."""

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction
from django.db.models import F, Sum

from profiles.compaction.lease import BACKUP, is_held
from profiles.compaction.replace import SourcesGone, lock_blocks
from profiles.models import Blob, Block
from profiles.storage.blob_store import blobs, get_location, read
from profiles.storage.blobs import BlobEntry, new_key

log = logging.getLogger(__name__)

# Longer than any query that may still have the blob in its plan.
DEAD_FOR = timedelta(minutes=30)
# Longer than any compaction takes from writing its blob to its commit.
UNKNOWN_FOR = timedelta(days=1)
REPACKED_AFTER = timedelta(days=1)
BATCH = 500


def sweep(now: datetime) -> None:
    """Delete dead blobs, repack half-empty blobs, then delete unknown objects.

    A backup copies rows first, then the blobs that they name: meanwhile no object is deleted. Each
    deletion asks after its row is gone, so that a backup that starts later has no such row.
    """
    delete_dead(now)
    for pk in half_empty(now):
        repack(pk, now)
    delete_unknown(now)


def delete_dead(now: datetime, project: int | None = None) -> None:
    """Delete blobs (of a project) that have had no block for DEAD_FOR, at most BATCH.

    The row is deleted before the object: `delete_unknown` finds an object without a row, whereas
    a row without an object would be an error.
    """
    dead = Blob.objects.filter(dead_since__lt=now - DEAD_FOR)
    if project is not None:
        dead = dead.filter(project=project)
    for blob in dead.order_by("pk")[:BATCH]:
        if is_held(BACKUP):
            return
        with transaction.atomic():
            if Block.objects.filter(blob=blob).exists():
                continue
            Blob.objects.filter(pk=blob.pk).delete()
        if not is_held(BACKUP):  # else delete_unknown deletes it later
            blobs().delete(blob.key)


def half_empty(now: datetime) -> list[int]:
    """Return Blob.pk of at most BATCH blobs whose blocks fill less than half of them.

    Blobs younger than REPACKED_AFTER are excluded.
    """
    live = Blob.objects.annotate(live=Sum("blocks__length"))
    rows = live.filter(created__lt=now - REPACKED_AFTER, dead_since=None, live__lt=F("size") / 2)
    return list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])


def find_unused_bytes(project: int, created: datetime) -> list[int]:
    """Return Blob.pk of the blobs that have blocks, and bytes of deleted ones.

    Only blobs of the project are included that were created until then.
    """
    live = Blob.objects.annotate(live=Sum("blocks__length"))
    rows = live.filter(project=project, created__lte=created, dead_since=None, live__lt=F("size"))
    return list(rows.order_by("pk").values_list("pk", flat=True))


def repack(blob: int, now: datetime) -> None:
    """Copy the blocks of a blob unchanged into a new blob, and mark the old one as dead.

    If the blocks are replaced meanwhile, leave everything as it is.
    """
    rows = list(Block.objects.filter(blob=blob).select_related("blob").order_by("pk"))
    if not rows:
        return
    data = [read(get_location(row)) for row in rows]
    key = new_key(rows[0].project_id)
    blobs().put(key, b"".join(data))
    try:
        with transaction.atomic():
            _repoint(key, rows, data)
            Blob.objects.filter(pk=blob).update(dead_since=now)
    except SourcesGone as error:
        log.info("Rewriting blob %s was skipped: %s", blob, error)


def _repoint(key: str, rows: Sequence[Block], data: Sequence[bytes]) -> None:
    """Let the rows of blocks refer to a new blob. Raise SourcesGone if they have changed."""
    project = rows[0].project_id
    current = lock_blocks(project, [row.pk for row in rows])
    if [row.blob_id for row in current] != [row.blob_id for row in rows]:
        raise SourcesGone("its blocks were replaced concurrently.")
    new = Blob.objects.create(project_id=project, key=key, size=sum(map(len, data)))
    offset = 0
    for row, part in zip(rows, data, strict=True):
        Block.objects.filter(pk=row.pk).update(blob=new, offset=offset)
        offset += len(part)


def delete_unknown(now: datetime) -> None:
    """Delete objects of the store that have no Blob row and are older than UNKNOWN_FOR.

    They come from a crash between writing a blob and its commit, or from deleted projects.
    """
    old = (each for each in blobs().list() if each.modified < now - UNKNOWN_FOR)
    for batch in _batches(old):
        registered = Blob.objects.filter(key__in=[each.key for each in batch])
        unknown = {each.key for each in batch} - set(registered.values_list("key", flat=True))
        if unknown and is_held(BACKUP):
            return
        for key in unknown:
            blobs().delete(key)


def _batches(found: Iterator[BlobEntry]) -> Iterator[list[BlobEntry]]:
    while batch := list(islice(found, BATCH)):
        yield batch
