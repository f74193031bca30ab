"""From what an engine's build gave to a NewBlock: it is opened again, so that it can be read."""

from datetime import datetime

from profiles.compaction.replace import NewBlock
from profiles.engine.blocks import HourBlock, open_day, open_hour
from profiles.models import BlockLevel, TimeSource
from profiles.storage.block_summary import COARSE, FINE, FINEST, summary_of
from profiles.storage.stored_bytes import Counts, shared


def new_hour(
    data: bytes,
    *,
    service: str,
    type: str,
    start: datetime,
    end: datetime,
    counts: Counts,  # by day of arrival
    is_part: bool = False,
) -> NewBlock:
    block = open_hour(data)
    return NewBlock(
        service=service,
        type=type,
        level=BlockLevel.HOUR,
        start=start,
        end=end,
        data=data,
        profiles=block.count,
        summary=summary_of(block.profiles, FINEST if is_part else FINE),
        arrived=shared(len(data), counts),
        kept_names=_kept_names(block),
        is_part=is_part,
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
    block = open_day(data)
    return NewBlock(
        service=service,
        type=type,
        level=BlockLevel.DAY,
        start=start,
        end=end,
        data=data,
        profiles=block.count,
        summary=summary_of(
            block.profiles, COARSE, by_labels=block.by_labels, moments=block.has_moments
        ),
        arrived=shared(len(data), counts),
        covers=covers,
        covers_new=covers_new,
    )


def _kept_names(block: HourBlock) -> tuple[str, ...]:
    known = block.identities
    pairs = zip(known.name_id, known.time_source, strict=True)
    return tuple(name for name, source in pairs if source == TimeSource.ARRIVAL)
