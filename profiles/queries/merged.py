"""Merged: the trees of all profiles of a selection, as one, with what it was made of."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

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
    with parts(selection, metric, deadline=deadline) as found:
        merge = Merge(among, group is Group.FUNCTION, settings.MAX_QUERY_NODES, selection.type)
        used = Used(shared={*among})
        try:
            coverage = summed(found, merge, used)
        except (BadProfile, TooLarge):
            # A node more or a greater sum may be the others' alone.
            return merged(selection, metric, group, deadline)
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


def summed(found: Iterable[Part], sink: Sink, used: Used | None = None) -> Coverage:
    """Add all parts; BadProfile or TooLarge where that becomes impossible."""
    used = used or Used()
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
