"""Detect uploads that are already stored, in the head or in a block.

A profile that was captured just now can only be in the head, where the unique constraint of the
insert detects a repetition; most uploads therefore need no look-up. An out-of-order profile may
be in a block, and an uploaded profile without a time of its own may be repeated at any time.
"""

from datetime import datetime

from django.utils import timezone

from profiles.compaction.windows import in_the_head_since
from profiles.engine.blocks import open_hour
from profiles.engine.errors import BadTree
from profiles.models import Block, BlockLevel, DeduplicationKey, Profile, TimeSource
from profiles.storage.blobs import BlobError
from profiles.storage.block_reader import location_of, sources
from profiles.storage.head import StoreUnavailable
from profiles.storage.insert import same
from profiles.storage.new_profile import NewProfile


def may_be_compacted(new: NewProfile) -> bool:
    """Return False if the profile can only be in the head. Reads neither database nor blobs.

    The result is False for most uploads.
    """
    is_old = new.time < in_the_head_since(timezone.now())
    return is_old or new.time_source == TimeSource.ARRIVAL


def is_stored(new: NewProfile) -> bool:
    """Return True if the same bytes are stored under this profile's name. Blocking.

    Raise Conflict if other bytes are stored under the name, and StoreUnavailable if a block that
    may contain the profile cannot be read.

    The head is read before the blocks, so that a profile which compaction moves in between is
    found in one of them. A copy that arrives during the check is found by the insert into the
    head: no profile leaves the head as soon as it has arrived.
    """
    if (stored_hash := _hash_in_head(new)) is not None:
        return same(stored_hash, new)
    if new.time_source == TimeSource.ARRIVAL:
        return DeduplicationKey.objects.filter(project=new.project, name_id=new.name_id).exists()
    hashes = (_hash_in(row, new.name_id) for row in _blocks_at(new, new.time))
    return any(same(body_hash, new) for body_hash in hashes if body_hash is not None)


def _hash_in_head(new: NewProfile) -> bytes | None:
    rows = Profile.objects.filter(project=new.project, name_id=new.name_id)
    body_hash = rows.values_list("body_hash", flat=True).first()
    return None if body_hash is None else bytes(body_hash)


def _blocks_at(new: NewProfile, time: datetime) -> list[Block]:
    rows = Block.objects.filter(
        project=new.project,
        service=new.service,
        type=new.type,
        level=BlockLevel.HOUR,
        first__lte=time,
        last__gte=time,
        quarantined=False,
    )
    return list(rows.select_related("blob"))


def _hash_in(row: Block, name_id: str) -> bytes | None:
    """Return the hash of the bytes that a block stores under this name, or None.

    Raise StoreUnavailable if the block cannot be read.
    """
    try:
        (source,) = sources([location_of(row)])
        identities = open_hour(source).identities
        return dict(zip(identities.name_id, identities.body_hash, strict=True)).get(name_id)
    except (BlobError, BadTree) as error:
        raise StoreUnavailable(f"The check for duplicates failed: {error}") from error
