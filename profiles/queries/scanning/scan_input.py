"""What a part of a selection is, wherever it is stored, and what it adds itself to."""

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
    """What of the trees of the head's rows is read."""

    NONE = "no tree"
    WHOLE = "all of each"
    FUNCTIONS = "what sums by function need, unpacked before they do"


class Accumulator(Protocol):
    """A sum under way: profiles.engine.calltree.merge.Merge, or moments."""

    def add_encoded(self, data: bytes, numbers: Numbers | None = None) -> None:
        """Add a tree as it is stored; BadTree, before anything is added, if it is damaged.

        `numbers` are what codec.unpack said of it, if it was asked.
        """

    def add_hour(self, block: HourBlock, profiles: Rows | None) -> None: ...

    def add_day(self, block: DayBlock, groups: Rows | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Dimension:
    """What is known of each of P profiles without its tree; each array int64 [P]."""

    time: NDArray[np.int64]  # µs since 1970
    deployment: NDArray[np.int64]  # Deployment.pk
    duration_ns: NDArray[np.int64]
    weight: NDArray[np.int64]  # total of the type's default metric
    total: NDArray[np.int64]  # of the metric that was asked for


NOTHING = Dimension(*(np.empty(0, np.int64) for _ in range(5)))


class ScanInput(Protocol):
    """Profiles that have the metric, stored together, between two cuts; perhaps none."""

    @property
    def start(self) -> datetime:
        """A moment between the same two cuts, not after its earliest profile."""

    def add_to(self, sink: Accumulator, used: ScanStats) -> None:
        """Add its profiles to the sum, and count them.

        What cannot be read is left out, and named in `used`. Raises BadProfile or TooLarge where
        the sum itself becomes impossible.
        """

    def dimension(self, used: ScanStats) -> Dimension:
        """What is known of its profiles; they are counted as by `add_to`."""
