"""Again: whether an upload is one that came before, and may have left the head since.

What was just captured is in the head, if anywhere: for most uploads nobody is asked. One that is
late may be in a block, and a profile that nobody asked for may be sent again at any time.
"""

from datetime import datetime

from django.utils import timezone

from profiles.compaction.windows import in_the_head_since
from profiles.engine.blocks import open_hour
from profiles.engine.errors import BadTree
from profiles.models import Block, BlockLevel, KeptName, Profile, TimeSource
from profiles.storage.blobs import BlobError
from profiles.storage.block_reader import location_of, sources
from profiles.storage.head import StoreUnavailable
from profiles.storage.insert import same
from profiles.storage.new_profile import NewProfile


def may_be_in_a_block(new: NewProfile) -> bool:
    """Without asking anyone: most uploads may not."""
    is_old = new.time < in_the_head_since(timezone.now())
    return is_old or new.time_source == TimeSource.ARRIVAL


def is_stored(new: NewProfile) -> bool:
    """For code that may block; StoreUnavailable if it cannot be known now, and Conflict if other
    bytes are stored under its name.

    First the head, then blocks: what moves meanwhile is met in one of them. What arrives meanwhile
    is met by whoever stores this one in the head, for nothing leaves that as early as it came.
    """
    if (known := _hash_in_head(new)) is not None:
        return same(known, new)
    if new.time_source == TimeSource.ARRIVAL:
        return KeptName.objects.filter(project=new.project, name_id=new.name_id).exists()
    found = (_hash_in(row, new.name_id) for row in _blocks_at(new, new.time))
    return any(same(body_hash, new) for body_hash in found if body_hash is not None)


def _hash_in_head(new: NewProfile) -> bytes | None:
    rows = Profile.objects.filter(project=new.project, name_id=new.name_id)
    found = rows.values_list("body_hash", flat=True).first()
    return None if found is None else bytes(found)


def _blocks_at(new: NewProfile, time: datetime) -> list[Block]:
    rows = Block.objects.filter(
        project=new.project,
        service=new.service,
        type=new.type,
        level=BlockLevel.HOUR,
        first__lte=time,
        last__gte=time,
        set_aside=False,
    )
    return list(rows.select_related("blob"))


def _hash_in(row: Block, name_id: str) -> bytes | None:
    """Of the bytes that it has under this name."""
    try:
        (source,) = sources([location_of(row)])
        known = open_hour(source).identities
        return dict(zip(known.name_id, known.body_hash, strict=True)).get(name_id)
    except (BlobError, BadTree) as error:
        raise StoreUnavailable(f"Whether it is stored already cannot be read: {error}") from error
