"""Sweep: blobs without blocks go, those with few are packed anew, and what nobody knows goes."""

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction
from django.db.models import F, Sum

from profiles.compaction.replace import SourcesGone, locked_blocks
from profiles.models import Blob, Block
from profiles.storage.blobs import BlobEntry, blobs, new_key
from profiles.storage.block_reader import location_of, read

log = logging.getLogger(__name__)

# Longer than any question takes that planned to read it.
DEAD_FOR = timedelta(minutes=30)
# Longer than any roll-up takes between its blob and its commit.
UNKNOWN_FOR = timedelta(days=1)
REPACKED_AFTER = timedelta(days=1)
BATCH = 500


def sweep(now: datetime) -> None:
    delete_dead(now)
    for pk in half_empty(now):
        repack(pk, now)
    delete_unknown(now)


def delete_dead(now: datetime) -> None:
    """The row first: an object that nobody knows is found again, a row without one is a fault."""
    for blob in Blob.objects.filter(dead_since__lt=now - DEAD_FOR).order_by("pk")[:BATCH]:
        with transaction.atomic():
            if Block.objects.filter(blob=blob).exists():
                continue
            Blob.objects.filter(pk=blob.pk).delete()
        blobs().delete(blob.key)


def half_empty(now: datetime) -> list[int]:
    live = Blob.objects.annotate(live=Sum("blocks__length"))
    rows = live.filter(created__lt=now - REPACKED_AFTER, dead_since=None, live__lt=F("size") / 2)
    return list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])


def repack(blob: int, now: datetime) -> None:
    """Its living blocks move into a blob of their own, byte by byte the same."""
    rows = list(Block.objects.filter(blob=blob).select_related("blob").order_by("pk"))
    data = [read(location_of(row)) for row in rows]
    key = new_key(rows[0].project_id)
    blobs().put(key, b"".join(data))
    try:
        with transaction.atomic():
            _repoint(key, rows, data)
            Blob.objects.filter(pk=blob).update(dead_since=now)
    except SourcesGone as error:
        log.info("Blob %s was left as it is: %s", blob, error)


def _repoint(key: str, rows: Sequence[Block], data: Sequence[bytes]) -> None:
    project = rows[0].project_id
    there = locked_blocks(project, [row.pk for row in rows])
    if [row.blob_id for row in there] != [row.blob_id for row in rows]:
        raise SourcesGone("its blocks were replaced meanwhile.")
    new = Blob.objects.create(project_id=project, key=key, size=sum(map(len, data)))
    offset = 0
    for row, part in zip(rows, data, strict=True):
        Block.objects.filter(pk=row.pk).update(blob=new, offset=offset)
        offset += len(part)


def delete_unknown(now: datetime) -> None:
    """What a crash between blob and commit left behind, and what belonged to deleted projects."""
    old = (each for each in blobs().list() if each.modified < now - UNKNOWN_FOR)
    for batch in _batches(old):
        known = Blob.objects.filter(key__in=[each.key for each in batch])
        for key in {each.key for each in batch} - set(known.values_list("key", flat=True)):
            blobs().delete(key)


def _batches(found: Iterator[BlobEntry]) -> Iterator[list[BlobEntry]]:
    while batch := list(islice(found, BATCH)):
        yield batch
