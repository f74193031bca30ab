"""Merged: the trees of all profiles of a selection, as one, with what it was made of."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.conf import settings

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.merge import LIMIT, Merge
from profiles.engine.metrics import Metric
from profiles.engine.tree import Tree
from profiles.queries import remembered
from profiles.queries.answers import Coverage
from profiles.queries.asked import Group, Selection, Unanswerable
from profiles.queries.part import Part, Sink, Trees
from profiles.queries.parts import parts
from profiles.queries.used import Used

_trees = remembered.Remembered[tuple[Tree, Coverage]]()


def merged(
    selection: Selection, metric: Metric, group: Group, deadline: float | None
) -> tuple[Tree, Coverage]:
    """The sum over every matching profile that has the metric.

    What cannot be read is named in the coverage; the rest is answered. What is all in blocks is
    remembered: the tree is not the caller's alone.
    """
    trees = Trees.FUNCTIONS if group is Group.FUNCTION else Trees.WHOLE
    with explained(), parts(selection, metric, deadline=deadline, trees=trees) as found:
        key = remembered.key(selection, (metric, group), found)
        known = _trees.recall(key)
        if known is None:
            merge = Merge(
                [metric], by_function=group is Group.FUNCTION, max_nodes=settings.MAX_QUERY_NODES
            )
            coverage = summed(found, merge)
            tree = merge.tree()
            known = tree, coverage
            _trees.remember(key, sum=known, numbers=2 * len(tree.id), gaps=bool(coverage.missing))
        return known


def added(
    selection: Selection,
    metric: Metric,
    sink: Sink,
    deadline: float | None,
    *,
    by_profile: bool = False,
    moments: bool = False,
) -> Coverage:
    """Add every matching profile that has the metric to a sum; `by_profile` and `moments` as in
    parts. BadProfile or TooLarge where it becomes impossible."""
    with parts(
        selection, metric, deadline=deadline, by_profile=by_profile, moments=moments
    ) as found:
        return summed(found, sink)


def summed(found: Iterable[Part], sink: Sink) -> Coverage:
    """Add all parts; BadProfile or TooLarge where that becomes impossible."""
    used = Used()
    for part in found:
        part.add_to(sink, used)
    coverage = used.coverage()
    refuse_beyond_64_bits(coverage.total)
    return coverage


def refuse_beyond_64_bits(total: int) -> None:
    """Sums of stacks are watched where they are made; with this the totals above them fit too."""
    if total >= 2**63:
        raise BadProfile("The values add up to more than 64 bits hold.")


@contextmanager
def explained(of: tuple[type[Exception], ...] = (BadProfile, TooLarge)) -> Iterator[None]:
    """Unanswerable where a sum becomes impossible, which these errors say."""
    try:
        yield
    except of as error:
        if isinstance(error, TooLarge) and error.limit == LIMIT:
            raise Unanswerable(
                f"FLAMEWATCH_MAX_QUERY_NODES allows {error.allowed:,} nodes in a merged call tree, "
                "and these profiles have more. Try a shorter timespan, or fewer zones and versions."
            ) from error
        raise Unanswerable(f"Together these profiles are too large: {error}") from error
