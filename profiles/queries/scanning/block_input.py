"""Scan inputs of blocks: the matching profiles of an hour block or day block."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from profiles.engine.blocks import DayBlock, HourBlock, ProfileColumns, open_day, open_hour
from profiles.engine.blocks.sections.container import Source
from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric
from profiles.queries.planning.block_index import BlockRow
from profiles.queries.planning.block_masks import BlockSelection, Mask
from profiles.queries.scanning.block_cache import block_cache
from profiles.queries.scanning.scan_input import NOTHING, Accumulator, Dimension
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import DeadlinePassed
from profiles.storage.blobs import BlobDeadlinePassed, BlobError
from profiles.storage.block_reader import BlockLocation
from profiles.storage.block_summary import exact_sum
from profiles.timestamps import moment

UNREADABLE = (BadTree, BlobError)


class OpenedBlock:
    """Block that is read at its first use, and taken from the block cache if it is there.

    Access to an unreadable block raises one of UNREADABLE.
    """

    def __init__(self, row: BlockRow, source: Source) -> None:
        self.row = row
        self._source = source

    @cached_property
    def hour(self) -> HourBlock:
        known = block_cache.get(self.row.place)
        return known if isinstance(known, HourBlock) else open_hour(self._source, self.row.type)

    @cached_property
    def day(self) -> DayBlock:
        known = block_cache.get(self.row.place)
        return known if isinstance(known, DayBlock) else open_day(self._source, self.row.type)

    @property
    def profiles(self) -> ProfileColumns:
        return (self.day if self.row.is_day else self.hour).profiles

    def keep(self) -> None:
        """Put the block into the block cache, with all sections read so far, if it was opened."""
        block: HourBlock | DayBlock | None = vars(self).get("day" if self.row.is_day else "hour")
        if block is not None:
            block_cache.put(self.row.place, block)


def is_kept(place: BlockLocation) -> bool:
    return block_cache.has(place)


@dataclass(frozen=True)
class HourInput:
    """Matching profiles of an hour block with start <= time < end."""

    opened: OpenedBlock
    wanted: BlockSelection
    metric: Metric
    start: datetime
    end: datetime
    chosen: Mask | None = None  # mask [P] of the block's profiles, in place of `wanted`

    @cached_property
    def meant(self) -> Mask:
        """Return a mask [P] of the matching profiles, with or without the metric."""
        if self.chosen is not None:
            return self.chosen
        return self.wanted.profiles(self.opened.hour, self.start, self.end)

    @cached_property
    def mask(self) -> Mask:
        """Return a mask [P] of the matching profiles that have the metric."""
        return self.meant & _has(self.opened.profiles, self.metric)

    def add_to(self, sink: Accumulator, used: ScanStats) -> None:
        try:
            if self.mask.any():
                sink.add_hour(self.opened.hour, None if self.mask.all() else self.mask)
            count(self, used)
        except UNREADABLE as error:
            leave_out(used, self.opened.row, error, _meant(self))

    def dimension(self, used: ScanStats) -> Dimension:
        return _dimension(self, used)


@dataclass(frozen=True)
class DayInput:
    """Matching groups of profiles of a day block."""

    opened: OpenedBlock
    wanted: BlockSelection
    metric: Metric

    @property
    def start(self) -> datetime:
        return self.opened.row.start

    @cached_property
    def groups(self) -> Mask:
        return self.wanted.groups(self.opened.day)

    @cached_property
    def meant(self) -> Mask:
        """Return a mask [P] of the profiles in the matching groups."""
        return self.groups[self.opened.day.groups.of_profile]

    @cached_property
    def mask(self) -> Mask:
        return self.meant & _has(self.opened.profiles, self.metric)

    def add_to(self, sink: Accumulator, used: ScanStats) -> None:
        try:
            if self.mask.any():
                sink.add_day(self.opened.day, None if self.groups.all() else self.groups)
            count(self, used)
        except UNREADABLE as error:
            leave_out(used, self.opened.row, error, _meant(self))

    def dimension(self, used: ScanStats) -> Dimension:
        return _dimension(self, used)


def _dimension(part: HourInput | DayInput, used: ScanStats) -> Dimension:
    try:
        profiles, mask = part.opened.profiles, part.mask
    except UNREADABLE as error:
        leave_out(used, part.opened.row, error, _meant(part))
        return NOTHING
    count(part, used)
    if not mask.any():
        return NOTHING
    return Dimension(
        time=profiles.time[mask],
        deployment=profiles.deployment[mask],
        duration_ns=profiles.duration_ns[mask],
        weight=profiles.weight[mask],
        total=profiles.totals[profiles.metrics.index(part.metric)][mask],
    )


def _has(profiles: ProfileColumns, metric: Metric) -> Mask:
    if metric not in profiles.metrics:
        return np.zeros(len(profiles), bool)
    has: Mask = profiles.has[profiles.metrics.index(metric)]
    return has


def count(part: "HourInput | DayInput", used: ScanStats) -> None:
    """Count an input's profiles in `used`, those with the metric and those without it."""
    profiles, mask = part.opened.profiles, part.mask
    if mask.any():
        _take(used, profiles, mask, part.metric)
        if used.shared:
            has = profiles.has[:, mask].all(axis=1)
            used.narrow([profiles.metrics[k] for k in np.flatnonzero(has)])
    lacking = np.flatnonzero(part.meant & ~mask)
    if not len(lacking):
        return
    kinds, kind = np.unique(profiles.has[:, lacking], axis=1, return_inverse=True)
    for number, has in enumerate(kinds.T):
        time = profiles.time[lacking[kind.ravel() == number]]
        others = [profiles.metrics[k] for k in np.flatnonzero(has)]
        earliest, latest = moment(int(time.min())), moment(int(time.max()))
        used.lack(part.metric, others, len(time), earliest, latest)


def _take(used: ScanStats, profiles: ProfileColumns, mask: Mask, metric: Metric) -> None:
    time = profiles.time[mask]
    total = profiles.totals[profiles.metrics.index(metric)][mask]
    used.take(
        profiles=len(time),
        total=exact_sum(total),
        duration_ns=exact_sum(profiles.duration_ns[mask]),
        first=moment(int(time.min())),
        last=moment(int(time.max())),
    )


def _meant(part: "HourInput | DayInput") -> int | None:
    """Return the number of an input's matching profiles; None if that is unreadable too."""
    try:
        return int(part.meant.sum())
    except UNREADABLE:
        return None


def leave_out(
    used: ScanStats, row: BlockRow, error: Exception, profiles: int | None = None
) -> None:
    """Report an unreadable block in `used`, with `profiles` left out (None: all of the block's).

    Raise DeadlinePassed if the block was not read before the query's deadline.
    """
    if isinstance(error, BlobDeadlinePassed):
        raise DeadlinePassed(str(error)) from error
    used.leave_out(row.start, row.end, str(error), row.profiles if profiles is None else profiles)
