"""Read stored hour blocks as sources of new blocks, and quarantine damaged ones."""

import logging
from collections.abc import Sequence

from profiles.engine.blocks import HourBlock, build_hour, open_hour
from profiles.engine.errors import BadProfile, BadTree, TooLarge
from profiles.models import Block
from profiles.storage.blob_store import location_of, read
from profiles.storage.blobs import BlobMissing

log = logging.getLogger(__name__)

UNREADABLE = (BadTree, BadProfile, TooLarge)


def opened(rows: Sequence[Block]) -> list[tuple[Block, HourBlock]]:
    """Decode the blocks; those that are damaged or missing are quarantined and left out.

    Raise BlobUnavailable if the store fails: a retry may then succeed.
    """
    return [(row, block) for row in rows if (block := _opened(row))]


def _opened(row: Block) -> HourBlock | None:
    try:
        return open_hour(read(location_of(row)))
    except (BadTree, BlobMissing) as error:
        quarantine([row], error)
        return None


def damaged(pairs: Sequence[tuple[Block, HourBlock]]) -> list[Block]:
    """Return the rows of the blocks that cannot even be rebuilt alone."""
    return [row for row, block in pairs if not _is_whole(block)]


def _is_whole(block: HourBlock) -> bool:
    try:
        build_hour([], [(block, None)])
    except UNREADABLE:
        return False
    return True


def quarantine(rows: Sequence[Block], error: Exception) -> None:
    """Exclude blocks from further compaction and log the reason; queries report them."""
    for row in rows:
        log.error("Block %s of project %s is quarantined: %s", row, row.project_id, error)
    Block.objects.filter(pk__in=[row.pk for row in rows]).update(quarantined=True)
