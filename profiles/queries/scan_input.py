"""Inputs of a scan, their interface, and those of blocks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import tee
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks import (
    DayBlock,
    HourBlock,
    Mask,
    ProfileColumns,
    RowFilter,
    open_day,
    open_hour,
)
from profiles.engine.blocks.sections.container import Source
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.coverage import ScanStats
from profiles.engine.encoding.codec import Numbers
from profiles.engine.errors import BadTree
from profiles.engine.metrics import Metric
from profiles.engine.timestamps import micros
from profiles.queries.cache import block_cache
from profiles.queries.context import DeadlinePassed, QueryContext
from profiles.queries.plan import BlockRow
from profiles.storage.blob_store import is_remote, sources
from profiles.storage.blobs import BlobDeadlinePassed, BlobError

UNREADABLE = (BadTree, BlobError)
ANY = Metric("", "")  # for inputs of which only the columns are read


class Accumulator(Protocol):
    """Sum in progress: profiles.engine.accumulators.merge.Merge or one of its subclasses."""

    def add_encoded(self, data: bytes, numbers: Numbers | None = None) -> None:
        """Add a stored tree; raise BadTree, before anything is added, if it is damaged.

        `numbers` is the result of codec.unpack for this tree, if the tree was unpacked ahead.
        """

    def add_hour(self, block: HourBlock, profiles: Rows | None) -> None: ...

    def add_day(self, block: DayBlock, groups: Rows | None) -> None: ...


class Dimension(NamedTuple):
    """Columns of P profiles that are known without their trees; each array is int64 [P]."""

    time: NDArray[np.int64]  # µs since 1970
    deployment: NDArray[np.int64]  # Deployment.pk
    duration_ns: NDArray[np.int64]
    profile_total: NDArray[np.int64]  # total of the type's default metric
    total: NDArray[np.int64]  # total of the query's metric


EMPTY = Dimension(*(np.empty(0, np.int64) for _ in range(5)))


class ProfileLabel(Protocol):
    """Label of whole profiles, whose values divide scan inputs."""

    def get_value(self, deployment: int, labels: Mapping[str, str]) -> str:
        """Return the value of a profile of this deployment (its pk) with these labels."""


class ScanInput(Protocol):
    """Profiles that have the metric, possibly none, whose values can be added to a sum."""

    def read_into(self, accumulator: Accumulator, stats: ScanStats) -> None:
        """Add the input's profiles to the accumulator, and count them in `stats`.

        Unreadable profiles are left out and reported there. Raise BadProfile if the sum passes 64
        bits, and TooLarge if it passes the accumulator's limit.
        """


class ProfilesInput(ScanInput, Protocol):
    """Single profiles, stored together, between two cuts."""

    @property
    def start(self) -> datetime:
        """Return a time between the same two cuts that is not after the earliest profile."""

    def dimension(self, stats: ScanStats) -> Dimension:
        """Return the columns of the input's profiles, and count them as `read_into` does."""

    def split_by_value(self, label: ProfileLabel) -> "Sequence[tuple[str, ProfilesInput]]":
        """Divide the input into one for each value that the label has in it.

        An unreadable input stays whole, under any value.
        """


class OpenedBlock:
    """Block that is read at its first use, and taken from the block cache if it is there.

    Access to an unreadable block raises one of UNREADABLE.
    """

    def __init__(self, row: BlockRow, source: Source, is_whole: bool) -> None:
        """Create the block; with `is_whole`, a cached block has all of its bytes in memory."""
        self.row = row
        self._source, self._is_whole = source, is_whole

    @cached_property
    def hour(self) -> HourBlock:
        block = self._find_cached()
        if isinstance(block, HourBlock):
            return block
        return open_hour(self._source, self.row.type, block_cache.get_store(self.row.location))

    @cached_property
    def day(self) -> DayBlock:
        block = self._find_cached()
        if isinstance(block, DayBlock):
            return block
        return open_day(self._source, self.row.type, block_cache.get_store(self.row.location))

    @property
    def profiles(self) -> ProfileColumns:
        return (self.day if self.row.is_day else self.hour).profiles

    def to_cache(self) -> None:
        """Put the block into the block cache, with all sections read so far, if it was opened."""
        block: HourBlock | DayBlock | None = vars(self).get("day" if self.row.is_day else "hour")
        if block is not None:
            block_cache.put_block(self.row.location, block)

    def _find_cached(self) -> HourBlock | DayBlock | None:
        """Return the cached block, which reads further sections within this query's deadline."""
        block = block_cache.get_block(self.row.location)
        return block if block is None or self._is_whole else block.with_source(self._source)


class BlockInput(ABC):
    """Matching profiles of a block."""

    def __init__(self, opened: OpenedBlock, filter: RowFilter, metric: Metric) -> None:
        self.opened = opened
        self.filter = filter
        self.metric = metric

    @property
    def start(self) -> datetime:
        return self.opened.row.start

    @property
    @abstractmethod
    def matching(self) -> Mask:
        """Return a mask [P] of the matching profiles, with or without the metric."""

    @abstractmethod
    def add_rows(self, accumulator: Accumulator) -> None:
        """Add the matching rows of the block to the accumulator."""

    @abstractmethod
    def choose(self, chosen: Mask) -> "BlockInput":
        """Return the input with the marked profiles of the block only."""

    @cached_property
    def mask(self) -> Mask:
        """Return a mask [P] of the matching profiles that have the metric."""
        profiles = self.opened.profiles
        if self.metric not in profiles.metrics:
            return np.zeros(len(profiles), bool)
        has: Mask = profiles.has[profiles.metrics.index(self.metric)]
        return self.matching & has

    def read_into(self, accumulator: Accumulator, stats: ScanStats) -> None:
        try:
            if self.mask.any():
                self.add_rows(accumulator)
            self._count(stats)
        except UNREADABLE as error:
            leave_out(stats, self.opened.row, error, self._matching_count())

    def dimension(self, stats: ScanStats) -> Dimension:
        try:
            profiles, mask = self.opened.profiles, self.mask
        except UNREADABLE as error:
            leave_out(stats, self.opened.row, error, self._matching_count())
            return EMPTY
        self._count(stats)
        if not mask.any():
            return EMPTY
        return Dimension(
            time=profiles.time[mask],
            deployment=profiles.deployment[mask],
            duration_ns=profiles.duration_ns[mask],
            profile_total=profiles.weight[mask],
            total=profiles.totals[profiles.metrics.index(self.metric)][mask],
        )

    def split_by_value(self, label: ProfileLabel) -> Sequence[tuple[str, ProfilesInput]]:
        try:
            profiles, matching = self.opened.profiles, self.matching
        except UNREADABLE:
            return [("", self)]  # adding it reports the error
        value, number = _list_values(profiles, label)
        numbers = np.unique(number[matching]).tolist()
        return [(value[i], self.choose(matching & (number == i))) for i in numbers]

    def _count(self, stats: ScanStats) -> None:
        """Count the input's profiles, those with the metric and those without it."""
        lacking = self.matching & ~self.mask
        stats.take_rows(self.opened.profiles, self.metric, self.mask, lacking)

    def _matching_count(self) -> int | None:
        """Return the number of matching profiles; None if that is unreadable too."""
        try:
            return int(self.matching.sum())
        except UNREADABLE:
            return None


class HourInput(BlockInput):
    """Matching profiles of an hour block with start <= time < end.

    `chosen` is a mask [P] of the block's profiles, in place of the filter.
    """

    def __init__(
        self,
        opened: OpenedBlock,
        filter: RowFilter,
        metric: Metric,
        start: datetime,
        end: datetime,
        chosen: Mask | None = None,
    ) -> None:
        super().__init__(opened, filter, metric)
        self._start, self._end, self._chosen = start, end, chosen

    @property
    def start(self) -> datetime:
        return self._start

    def choose(self, chosen: Mask) -> "HourInput":
        """Return the input with the marked profiles of the block only."""
        return HourInput(self.opened, self.filter, self.metric, self._start, self._end, chosen)

    @cached_property
    def matching(self) -> Mask:
        if self._chosen is not None:
            return self._chosen
        return self.filter.profiles(self.opened.hour, micros(self._start), micros(self._end))

    def add_rows(self, accumulator: Accumulator) -> None:
        accumulator.add_hour(self.opened.hour, None if self.mask.all() else self.mask)


class DayInput(BlockInput):
    """Matching groups of profiles of a day block.

    `chosen` is a mask [G] of the block's groups, in place of the filter.
    """

    def __init__(
        self, opened: OpenedBlock, filter: RowFilter, metric: Metric, chosen: Mask | None = None
    ) -> None:
        super().__init__(opened, filter, metric)
        self._chosen = chosen

    def choose(self, chosen: Mask) -> "DayInput":
        """Return the input with the groups of the marked profiles, which are all of each group."""
        groups = np.zeros(self.opened.day.rows, bool)
        groups[self.opened.day.groups.of_profile[chosen]] = True
        return DayInput(self.opened, self.filter, self.metric, groups)

    @cached_property
    def groups(self) -> Mask:
        return self.filter.groups(self.opened.day) if self._chosen is None else self._chosen

    @cached_property
    def matching(self) -> Mask:
        return self.groups[self.opened.day.groups.of_profile]

    def add_rows(self, accumulator: Accumulator) -> None:
        accumulator.add_day(self.opened.day, None if self.groups.all() else self.groups)


def _list_values(
    profiles: ProfileColumns, label: ProfileLabel
) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct values of the label in a block, and the index of each profile's."""
    sets = len(profiles.label_sets)
    pairs = profiles.deployment * sets + profiles.label_set
    distinct, inverse = np.unique(pairs, return_inverse=True)
    labels = [dict(each) for each in profiles.label_sets]
    numbers: dict[str, int] = {}
    of_pair = [
        numbers.setdefault(label.get_value(pair // sets, labels[pair % sets]), len(numbers))
        for pair in distinct.tolist()
    ]
    return [*numbers], np.array(of_pair, np.int64)[inverse]


def leave_out(
    stats: ScanStats | None, row: BlockRow, error: Exception, profiles: int | None = None
) -> None:
    """Report an unreadable block, with `profiles` left out (None: all of the block's).

    Raise DeadlinePassed if the block was not read before the query's deadline.
    """
    if isinstance(error, BlobDeadlinePassed):
        raise DeadlinePassed(str(error)) from error
    if stats is not None:
        left_out = row.profiles if profiles is None else profiles
        stats.leave_out(row.start, row.end, str(error), left_out)


def block_inputs(
    context: QueryContext,
    filter: RowFilter,
    rows: Iterable[BlockRow],
    metric: Metric = ANY,
    cuts: Sequence[datetime] = (),
) -> Iterator[BlockInput]:
    """Yield the inputs of these blocks in their order; an hour block across a cut gives several.

    Remote blobs are fetched ahead. Each block goes to the block cache once its inputs are used.
    """
    rows, ahead = tee(rows)
    locations = (row.location for row in ahead)
    opened = sources(locations, context.deadline, block_cache.has_columns)
    is_whole = is_remote() and block_cache.files is None
    for row, source in zip(rows, opened, strict=True):
        block = OpenedBlock(row, source, is_whole)
        if row.is_day:
            yield DayInput(block, filter, metric)
        else:
            inside = [cut for cut in cuts if row.start < cut < row.end]
            for start, end in zip([row.start, *inside], [*inside, row.end], strict=True):
                yield HourInput(block, filter, metric, start, end)
        block.to_cache()


class ProfileFacts(NamedTuple):
    """Columns of the matching profiles of a block input, readable without call trees."""

    input: BlockInput
    columns: ProfileColumns  # all profiles of the block
    matching: NDArray[np.int64]  # indexes of the matching profiles, at least one, any metrics


def profile_facts(
    context: QueryContext, inputs: Iterable[BlockInput], stats: ScanStats | None = None
) -> Iterator[ProfileFacts]:
    """Yield the columns of each input with matching profiles.

    Unreadable inputs are reported in `stats`, if it is given; readable profiles are not counted.
    Raise DeadlinePassed between two inputs, or if a blob is not read before the deadline.
    """
    for each in inputs:
        context.check()
        try:
            columns, matching = each.opened.profiles, np.flatnonzero(each.matching)
        except UNREADABLE as error:
            leave_out(stats, each.opened.row, error)
            continue
        if len(matching):
            yield ProfileFacts(each, columns, matching)
