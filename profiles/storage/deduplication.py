"""Detect uploads that are already stored, in the head or in a block.

The unique constraint of the insert detects a copy in the head, and a profile that was captured just
now can only be there. An out-of-order profile may be in a block, and an uploaded profile without a
time of its own may be repeated at any time. `find_copies` looks up all of those of a batch with one
statement.
It runs after the insert, in the same transaction: compaction moves a profile in one commit, so that
a copy that left the head before the insert is in a block that is visible now.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from django.utils import timezone

from common.cache import Cache
from profiles.engine.blocks import open_hour
from profiles.engine.errors import BadTree
from profiles.models import TimeSource
from profiles.storage.blob_store import BlockLocation, sources
from profiles.storage.blobs import BlobError
from profiles.storage.insert_statements import Name, select_copies
from profiles.storage.new_profile import Copy, NewProfile
from profiles.storage.upload_future import StoreUnavailable
from profiles.storage.windows import get_head_only_start

# Blocks whose names are cached: up to 1 MB each, for 4,096 profiles.
CACHED_BLOCKS = 32
_NO_BLOCK = datetime(1970, 1, 1, tzinfo=UTC)  # a time at which there is no block

Names = Mapping[str, bytes]  # body hashes by name_id


class Conflict(Exception):
    """Another profile, made of other bytes, is stored under this name."""


class BlocksUnread(Exception):
    """The profile may be in blocks whose names are not cached; `blocks` is by Block.pk."""

    def __init__(self, new: NewProfile, blocks: dict[int, BlockLocation]) -> None:
        super().__init__("Blocks have to be read to compare the profile with them.")
        self.new, self.blocks = new, blocks


def may_be_elsewhere(new: NewProfile) -> bool:
    """Return False if a copy can only be in the head, as it usually is."""
    is_old = new.time < get_head_only_start(timezone.now())
    return is_old or new.time_source == TimeSource.ARRIVAL


def require_same(copy: Copy, new: NewProfile) -> Copy:
    """Return the copy if it was made of the same bytes; raise Conflict otherwise."""
    if copy.body_hash != new.content.body_hash:
        raise Conflict(f"Profile {new.name_id} is already stored with different content.")
    return copy


def find_copies(profiles: Sequence[NewProfile]) -> dict[Name, Copy | BlocksUnread]:
    """Return the copies of profiles in blocks, by one statement.

    The value is BlocksUnread if the profile may be in a block whose names are not cached. Blocks
    are not read here, because the head's writer thread must not wait for the blob store.
    """
    copies: dict[Name, Copy | BlocksUnread] = {}
    unread: dict[Name, BlocksUnread] = {}
    for row in select_copies([(new, _block_time(new)) for new in profiles]):
        new = profiles[row.position]
        name = new.project, new.name_id
        if row.name_id is not None:  # a name of CreateOfflineProfile has the hash of the bytes
            copies[name] = Copy(row.name_id, new.content.body_hash)
        elif row.block in new.absent_from:
            continue
        elif (names := _names_by_block.get(row.block)) is None:
            found = unread.setdefault(name, BlocksUnread(new, {}))
            found.blocks[row.block] = BlockLocation(row.key, row.offset, row.length)
        elif copy := _find_copy(names, new):
            copies[name] = copy
    return {**unread, **copies}


def copy_in_blocks(new: NewProfile, blocks: Mapping[int, BlockLocation]) -> Copy | None:
    """Return the copy of a profile in one of the blocks, and cache their names. Blocking.

    Raise Conflict if other bytes are stored under the name, and StoreUnavailable if a block cannot
    be read.
    """
    copies = [_find_copy(_names(pk, location), new) for pk, location in blocks.items()]
    return next((require_same(copy, new) for copy in copies if copy), None)


def _find_copy(names: Names, new: NewProfile) -> Copy | None:
    body_hash = names.get(new.name_id)
    return None if body_hash is None else Copy(new.name_id, body_hash)


def _block_time(new: NewProfile) -> datetime:
    """Return the time whose blocks may have a copy.

    Profiles timed by their arrival are found by their names, at any time (DeduplicationKey).
    """
    if new.time_source == TimeSource.ARRIVAL or not may_be_elsewhere(new):
        return _NO_BLOCK
    return new.time


def _names(pk: int, location: BlockLocation) -> Names:
    cached = _names_by_block.get(pk)
    if cached is not None:
        return cached
    try:
        (source,) = sources([location])
        identities = open_hour(source).identities
    except (BlobError, BadTree) as error:
        raise StoreUnavailable(f"The check for duplicates failed: {error}") from error
    names = dict(zip(identities.name_id, identities.body_hash, strict=True))
    _names_by_block.put(pk, names)
    return names


# By Block.pk; the names of a block never change.
_names_by_block: Cache[int, Names] = Cache(size=CACHED_BLOCKS)
