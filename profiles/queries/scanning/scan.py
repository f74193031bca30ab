"""Scan of a selection: its profiles as a sequence of inputs, each ready to be added to a sum.

    with scan(selection, metric, deadline=…) as found:
        for part in found:
            part.add_to(merge, used)

An input is a number of profiles that are stored together. All inputs come from one database
snapshot, so that a profile that compaction moves in the meantime is neither lost nor counted
twice.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice

from profiles.engine.metrics import Metric
from profiles.queries.planning.plan import QueryPlan, plan_query
from profiles.queries.scanning.head_input import head_inputs
from profiles.queries.scanning.scan_input import ScanInput, Trees
from profiles.queries.selection import Selection, check
from profiles.storage.snapshot import snapshot


@contextmanager
def scan(
    selection: Selection,
    metric: Metric,
    *,
    deadline: float | None = None,
    cuts: Sequence[datetime] = (),
    by_profile: bool = False,
    moments: bool = False,
    trees: Trees = Trees.WHOLE,
) -> Generator["PlannedScan", None, None]:
    """Open a scan of all matching profiles that have the metric, in no particular order.

    No input lies across one of the times `cuts`, which are ascending. With `by_profile`, inputs
    have the values of each profile, not only sums; with `moments`, they have at least sums of
    squares. With `Trees.NONE`, inputs of the head provide `dimension` only. Iteration raises
    DeadlinePassed between inputs.
    """
    with snapshot():
        there = plan_query(
            selection, metric, days=not by_profile, moments=moments, cuts=cuts, deadline=deadline
        )
        if there.is_in_blocks:
            yield PlannedScan(there, _checked(there.blocks, deadline))
            return
        of_type = selection.type.value
        with closing(head_inputs(there.head, of_type, metric, cuts, trees)) as head:
            # The last bits of floating-point sums depend on the order of the inputs.
            in_order = moments or by_profile
            found = chain(head, there.blocks) if in_order else _blocks_first(there.blocks, head)
            yield PlannedScan(there, _checked(found, deadline))


@dataclass(frozen=True, slots=True)
class PlannedScan:
    """Inputs of a scan; iterate over them once, inside the snapshot."""

    _there: QueryPlan
    _parts: Iterator[ScanInput]

    def __iter__(self) -> Iterator[ScanInput]:
        return self._parts

    @property
    def is_in_blocks(self) -> bool:
        """Return True if the scan has no head rows and needs the database no longer."""
        return self._there.is_in_blocks

    def blocks(self) -> tuple[int, ...] | None:
        """Return Block.pk of all planned blocks; None if there are head rows, which may change."""
        return None if self._there.head.exists() else self._there.rows


def _blocks_first(blocks: Iterator[ScanInput], head: Iterator[ScanInput]) -> Iterator[ScanInput]:
    """Yield the blocks before the head rows, but start to read the head first.

    Other threads unpack the first head rows while the blocks are added. The sum then contains
    most functions of the head already, and their strings need not be decoded.
    """
    begun = [*islice(head, 1)]
    yield from blocks
    yield from begun
    yield from head


def _checked(found: Iterator[ScanInput], deadline: float | None) -> Iterator[ScanInput]:
    for part in found:
        check(deadline)
        yield part
