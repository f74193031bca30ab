"""Again: whether an upload is one that came before and has left the head since.

A name that was issued is good only while its hour is in the head; a profile that nobody asked
for may be sent again at any time.
"""

from datetime import datetime

from django.utils import timezone

from profiles.engine.blocks import open_hour
from profiles.engine.errors import BadTree
from profiles.models import Block, KeptName, Level, TimeSource
from profiles.rollup.closed import hours_before
from profiles.store.blobs import BlobError
from profiles.store.block_bytes import place_of, sources
from profiles.store.head import StoreUnavailable
from profiles.store.new_profile import NewProfile


def may_be_in_a_block(new: NewProfile) -> bool:
    """Without asking anyone: most uploads may not."""
    if new.time_source == TimeSource.ASSIGNED:
        return False
    return new.time_source == TimeSource.ARRIVAL or new.time < hours_before(timezone.now())


def is_in_a_block(new: NewProfile) -> bool:
    """For code that may block; StoreUnavailable if it cannot be known now.

    Whoever stores it looks into the head after this. Nothing leaves the head as early as it came,
    so nothing slips through in between.
    """
    if new.time_source == TimeSource.ARRIVAL:
        return KeptName.objects.filter(project=new.project, name_id=new.name_id).exists()
    return any(_has(row, new.name_id) for row in _blocks_at(new, new.time))


def _blocks_at(new: NewProfile, time: datetime) -> list[Block]:
    rows = Block.objects.filter(
        project=new.project,
        service=new.service,
        type=new.type,
        level=Level.HOUR,
        first__lte=time,
        last__gte=time,
        set_aside=False,
    )
    return list(rows.select_related("blob"))


def _has(row: Block, name_id: str) -> bool:
    try:
        (source,) = sources([place_of(row)])
        return name_id in set(open_hour(source).identities.name_id)
    except (BlobError, BadTree) as error:
        raise StoreUnavailable(f"Whether it is stored already cannot be read: {error}") from error
