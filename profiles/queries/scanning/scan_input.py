"""Interfaces of a scan: its inputs, and the accumulators that sum them."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks import DayBlock, HourBlock
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.encoding.codec import Numbers
from profiles.queries.scanning.scan_stats import ScanStats


class Trees(Enum):
    """Part of a head row's call tree that a scan reads."""

    NONE = "no tree"
    WHOLE = "all of each"
    FUNCTIONS = "what sums by function need, unpacked before they do"


class Accumulator(Protocol):
    """Sum in progress: profiles.engine.calltree.merge.Merge or one of its subclasses."""

    def add_encoded(self, data: bytes, numbers: Numbers | None = None) -> None:
        """Add a stored tree; raise BadTree, before anything is added, if it is damaged.

        `numbers` is the result of codec.unpack for this tree, if the tree was unpacked ahead.
        """

    def add_hour(self, block: HourBlock, profiles: Rows | None) -> None: ...

    def add_day(self, block: DayBlock, groups: Rows | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Dimension:
    """Columns of P profiles that are known without their trees; each array is int64 [P]."""

    time: NDArray[np.int64]  # µs since 1970
    deployment: NDArray[np.int64]  # Deployment.pk
    duration_ns: NDArray[np.int64]
    weight: NDArray[np.int64]  # total of the type's default metric
    total: NDArray[np.int64]  # total of the query's metric


NOTHING = Dimension(*(np.empty(0, np.int64) for _ in range(5)))


class ScanInput(Protocol):
    """Profiles that have the metric, stored together, between two cuts; possibly none."""

    @property
    def start(self) -> datetime:
        """Return a time between the same two cuts that is not after the earliest profile."""

    def add_to(self, sink: Accumulator, used: ScanStats) -> None:
        """Add the input's profiles to the accumulator `sink`, and count them in `used`.

        Unreadable profiles are left out and reported in `used`. Raise BadProfile if the sum
        passes 64 bits, and TooLarge if it passes the accumulator's limit.
        """

    def dimension(self, used: ScanStats) -> Dimension:
        """Return the columns of the input's profiles, and count them in `used` as `add_to` does."""
