"""Detect uploads that are already stored, in the head or in a block.

The unique constraint of the insert detects a copy in the head, and a profile that was captured just
now can only be there. An out-of-order profile may be in a block, and an uploaded profile without a
time of its own may be repeated at any time. `find_copies` looks up all of those of a batch with one
statement. It runs after the insert, in the same transaction: compaction moves a profile in one
commit, so that a copy that left the head before the insert is in a block that is visible now.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from django.utils import timezone

from common.bounded_cache import BoundedCache
from profiles.compaction.windows import in_the_head_since
from profiles.engine.blocks import open_hour
from profiles.engine.errors import BadTree
from profiles.models import TimeSource
from profiles.storage.blobs import BlobError
from profiles.storage.block_reader import BlockLocation, sources
from profiles.storage.insert_statements import Name, select_copies
from profiles.storage.new_profile import NewProfile
from profiles.storage.upload_future import StoreUnavailable

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


def may_be_compacted(new: NewProfile) -> bool:
    """Return False if a copy of the profile can only be in the head, which is the usual case."""
    is_old = new.time < in_the_head_since(timezone.now())
    return is_old or new.time_source == TimeSource.ARRIVAL


def is_same(stored_hash: bytes, new: NewProfile) -> bool:
    """Return True if the stored profile has the same bytes; raise Conflict otherwise."""
    if stored_hash != new.body_hash:
        raise Conflict(f"Profile {new.name_id} is stored already, made of other bytes.")
    return True


def find_copies(profiles: Sequence[NewProfile]) -> dict[Name, bytes | BlocksUnread]:
    """Return the body hashes of profiles in blocks, by one statement.

    The value is BlocksUnread if the profile may be in a block whose names are not cached. Blocks
    are not read here, because the head's writer thread must not wait for the blob store.
    """
    copies: dict[Name, bytes | BlocksUnread] = {}
    unread: dict[Name, BlocksUnread] = {}
    for row in select_copies([(new, _block_time(new)) for new in profiles]):
        new = profiles[row.position]
        name = new.project, new.name_id
        if row.block is None:  # found by its name, which contains the hash of its bytes
            copies[name] = new.body_hash
        elif row.block in new.absent_from:
            continue
        elif (names := _names_by_block.get(row.block)) is None:
            found = unread.setdefault(name, BlocksUnread(new, {}))
            found.blocks[row.block] = BlockLocation(row.key, row.offset, row.length)
        elif new.name_id in names:
            copies[name] = names[new.name_id]
    return {**unread, **copies}


def is_in_blocks(new: NewProfile, blocks: Mapping[int, BlockLocation]) -> bool:
    """Return True if one of the blocks has the profile, and cache their names. Blocking.

    Raise Conflict if other bytes are stored under the name, and StoreUnavailable if a block cannot
    be read.
    """
    hashes = [_names(pk, location).get(new.name_id) for pk, location in blocks.items()]
    return any(is_same(stored_hash, new) for stored_hash in hashes if stored_hash is not None)


def _block_time(new: NewProfile) -> datetime:
    """Return the time whose blocks may have a copy.

    Profiles timed by their arrival are found by their names, at any time (DeduplicationKey).
    """
    return _NO_BLOCK if new.time_source == TimeSource.ARRIVAL else new.time


def _names(pk: int, location: BlockLocation) -> Names:
    cached = _names_by_block.get(pk)
    if cached is not None:
        return cached
    try:
        (source,) = sources([location])
        identities = open_hour(source).identities
    except (BlobError, BadTree) as error:
        raise StoreUnavailable(f"Whether it is stored already cannot be read: {error}") from error
    names = dict(zip(identities.name_id, identities.body_hash, strict=True))
    _names_by_block.put(pk, names)
    return names


# By Block.pk; the names of a block never change.
_names_by_block: BoundedCache[int, Names] = BoundedCache(size=CACHED_BLOCKS)
