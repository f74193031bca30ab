"""Make a NewBlock from the bytes that the engine built.

The bytes are decoded again: this gives the summary and proves that the block is readable.
"""

from datetime import datetime

from profiles.compaction.replace import NewBlock
from profiles.engine.blocks import HourBlock, open_day, open_hour
from profiles.models import Resolution, TimeSource
from profiles.storage.block_summary import COARSE, FINE, FINEST, summary_of
from profiles.storage.stored_bytes import Counts, shared


def new_hour(
    data: bytes,
    *,
    service: str,
    type: str,
    start: datetime,
    end: datetime,
    counts: Counts,  # bytes by day of arrival
    is_level0: bool = False,
) -> NewBlock:
    """Make an hour block, or a level-0 block with `is_level0`, from the output of `build_hour`."""
    block = open_hour(data)
    return NewBlock(
        service=service,
        type=type,
        resolution=Resolution.PROFILE,
        start=start,
        end=end,
        data=data,
        profiles=block.count,
        summary=summary_of(block.profiles, FINEST if is_level0 else FINE),
        arrived=shared(len(data), counts),
        deduplication_keys=_deduplication_keys(block),
        is_level0=is_level0,
    )


def new_day(
    data: bytes,
    *,
    service: str,
    type: str,
    start: datetime,
    end: datetime,
    counts: Counts,
    covers: tuple[int, ...] = (),
    covers_new: tuple[int, ...] = (),
) -> NewBlock:
    """Make a day block from the output of `build_day`; see NewBlock for the arguments."""
    block = open_day(data)
    return NewBlock(
        service=service,
        type=type,
        resolution=Resolution.DAY,
        start=start,
        end=end,
        data=data,
        profiles=block.count,
        summary=summary_of(
            block.profiles, COARSE, by_labels=block.by_labels, moments=block.has_variance
        ),
        arrived=shared(len(data), counts),
        covers=covers,
        covers_new=covers_new,
    )


def _deduplication_keys(block: HourBlock) -> tuple[str, ...]:
    """Return the names of profiles that have no time of their own and may be repeated any time."""
    identities = block.identities
    pairs = zip(identities.name_id, identities.time_source, strict=True)
    return tuple(name for name, source in pairs if source == TimeSource.ARRIVAL)
