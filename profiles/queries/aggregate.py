"""Merged: the trees of all profiles of a selection, as one, with what it was made of."""

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
    """The sum over every matching profile that has the metric.

    What cannot be read is named in the coverage; the rest is answered. What is all in blocks is
    remembered: the tree is not the caller's alone.
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
    """Merge as `merged`, with those of the metrics too that the very same profiles have.

    Where another one passes 64 bits, the metric that was asked for is alone.
    """
    with scan(selection, metric, deadline=deadline) as found:
        merge = Merge(among, group is Group.FUNCTION, settings.MAX_QUERY_NODES, selection.type)
        used = ScanStats(shared={*among})
        try:
            coverage = summed(found, merge, used)
        except (BadProfile, TooLarge):
            # A node more or a greater sum may be the others' alone.
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
    """Add every matching profile that has the metric to a sum; `by_profile` and `moments` as in
    parts. BadProfile or TooLarge where it becomes impossible."""
    with scan(
        selection, metric, deadline=deadline, by_profile=by_profile, moments=moments
    ) as found:
        return summed(found, sink)


def summed(
    found: Iterable[ScanInput], sink: Accumulator, used: ScanStats | None = None
) -> Coverage:
    """Add all parts; BadProfile or TooLarge where that becomes impossible."""
    used = used or ScanStats()
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
            raise InvalidQuery(
                f"FLAMEWATCH_MAX_QUERY_NODES allows {error.allowed:,} nodes in a merged call tree, "
                "and these profiles have more. Try a shorter timespan, or fewer zones and versions."
            ) from error
        raise InvalidQuery(f"Together these profiles are too large: {error}") from error
