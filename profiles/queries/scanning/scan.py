"""Parts: what a selection consists of, piece by piece, each ready to be added to a sum.

    with parts(selection, metric, deadline=…) as found:
        for part in found:
            part.add_to(merge, used)

A part is some profiles that are stored together. Which ones are there is read in one snapshot, so
that a profile that moves meanwhile is neither lost nor counted twice.
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
    """All that matches and has the metric, in no particular order.

    `cuts` are moments, ascending, that no part lies across; `by_profile` asks for parts that know
    the values of each profile, not only their sums; `moments` for such as have at least those.
    Without `trees` parts know their dimension alone. DeadlinePassed is raised between parts.
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
            in_order = moments or by_profile  # sums of floats depend on it, in their last bits
            found = chain(head, there.blocks) if in_order else _blocks_first(there.blocks, head)
            yield PlannedScan(there, _checked(found, deadline))


@dataclass(frozen=True, slots=True)
class PlannedScan:
    """The parts, to be gone through once, inside the snapshot."""

    _there: QueryPlan
    _parts: Iterator[ScanInput]

    def __iter__(self) -> Iterator[ScanInput]:
        return self._parts

    @property
    def is_in_blocks(self) -> bool:
        """Whether the head has nothing of it: then the database is not needed any more."""
        return self._there.is_in_blocks

    def blocks(self) -> tuple[int, ...] | None:
        """Block.pk of all that the parts are in; None if some are in the head, which changes."""
        return None if self._there.head.exists() else self._there.rows


def _blocks_first(blocks: Iterator[ScanInput], head: Iterator[ScanInput]) -> Iterator[ScanInput]:
    """The first rows of the head are unpacked meanwhile, and most of their functions are known
    then: of these their texts are not read."""
    begun = [*islice(head, 1)]
    yield from blocks
    yield from begun
    yield from head


def _checked(found: Iterator[ScanInput], deadline: float | None) -> Iterator[ScanInput]:
    for part in found:
        check(deadline)
        yield part
