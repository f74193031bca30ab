"""Aggregation of all profiles of a selection into one call tree, with its coverage."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from django.conf import settings

from profiles.engine.calltree.merge import LIMIT, Merge
from profiles.engine.calltree.tree import Tree
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import Metric
from profiles.queries import result_cache
from profiles.queries.results import Coverage
from profiles.queries.scanning.scan import scan
from profiles.queries.scanning.scan_input import Accumulator, ScanInput, Trees
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import Group, InvalidQuery, Selection

_trees = result_cache.ResultCache[tuple[Tree, Coverage]]()


def merge_selection(
    selection: Selection, metric: Metric, group: Group, deadline: float | None
) -> tuple[Tree, Coverage]:
    """Merge the call trees of all matching profiles that have the metric.

    Profiles that cannot be read are left out and listed in the coverage. The result of a
    selection that is entirely in blocks is cached and shared: do not modify the tree. Raise
    InvalidQuery if the sum passes 64 bits or the tree has more than MAX_QUERY_NODES nodes.
    """
    trees = Trees.FUNCTIONS if group is Group.FUNCTION else Trees.WHOLE
    with explained(), scan(selection, metric, deadline=deadline, trees=trees) as found:
        key = result_cache.key(selection, (metric, group), found)
        known = _trees.recall(key)
        if known is None:
            merge = Merge(
                [metric], group is Group.FUNCTION, settings.MAX_QUERY_NODES, selection.type
            )
            coverage = summed(found, merge)
            tree = merge.tree()
            known = tree, coverage
            _trees.remember(key, sum=known, numbers=2 * len(tree.id), gaps=not coverage.is_readable)
        return known


def merged_with_others(
    selection: Selection,
    metric: Metric,
    among: Sequence[Metric],
    group: Group,
    deadline: float | None,
) -> tuple[Tree, Coverage]:
    """Merge as `merge_selection` does, with further metrics in the same tree.

    From `among`, the tree has `metric` and each metric that exactly the same profiles have. If a
    sum passes 64 bits or the tree has too many nodes, merge `metric` alone.
    """
    with scan(selection, metric, deadline=deadline) as found:
        merge = Merge(among, group is Group.FUNCTION, settings.MAX_QUERY_NODES, selection.type)
        used = ScanStats(shared={*among})
        try:
            coverage = summed(found, merge, used)
        except (BadProfile, TooLarge):
            # The limit may have been passed by the other metrics alone.
            return merge_selection(selection, metric, group, deadline)
    tree = merge.tree()
    kept = [k for k, each in enumerate(among) if each == metric or each in used.shared]
    labelled = tree.labelled
    if labelled:
        labelled = replace(labelled, values=labelled.values[kept])
    metrics = tuple(among[k] for k in kept)
    return replace(tree, metrics=metrics, self=tree.self[kept], labelled=labelled), coverage


def added(
    selection: Selection,
    metric: Metric,
    sink: Accumulator,
    deadline: float | None,
    *,
    by_profile: bool = False,
    moments: bool = False,
) -> Coverage:
    """Add every matching profile that has the metric to the accumulator `sink`.

    `by_profile` and `moments` are those of `scan`. Raise BadProfile if a sum passes 64 bits, and
    TooLarge if the accumulator passes its limit.
    """
    with scan(
        selection, metric, deadline=deadline, by_profile=by_profile, moments=moments
    ) as found:
        return summed(found, sink)


def summed(
    found: Iterable[ScanInput], sink: Accumulator, used: ScanStats | None = None
) -> Coverage:
    """Add all scan inputs to the accumulator `sink` and return their coverage.

    Raise BadProfile if a sum passes 64 bits, and TooLarge if the accumulator passes its limit.
    """
    used = used or ScanStats()
    for part in found:
        part.add_to(sink, used)
    coverage = used.coverage()
    refuse_beyond_64_bits(coverage.total)
    return coverage


def refuse_beyond_64_bits(total: int) -> None:
    """Raise BadProfile if a query's total does not fit in 64 bits.

    Accumulators check the self values of nodes; this check covers the totals of nodes too.
    """
    if total >= 2**63:
        raise BadProfile("The values add up to more than 64 bits hold.")


@contextmanager
def explained(of: tuple[type[Exception], ...] = (BadProfile, TooLarge)) -> Iterator[None]:
    """Turn errors of an accumulator, those of the types `of`, into InvalidQuery with advice."""
    try:
        yield
    except of as error:
        if isinstance(error, TooLarge) and error.limit == LIMIT:
            raise InvalidQuery(
                f"FLAMEWATCH_MAX_QUERY_NODES allows {error.allowed:,} nodes in a merged call tree, "
                "and these profiles have more. Try a shorter timespan, or fewer zones and versions."
            ) from error
        raise InvalidQuery(f"Together these profiles are too large: {error}") from error
