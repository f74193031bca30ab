"""Third stage of a query: the sum of all inputs of a scan, with its coverage."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from django.conf import settings

from profiles.engine.calltree.merge import LIMIT, Merge
from profiles.engine.calltree.tree import Tree
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import Metric
from profiles.queries.cache import cache_sum, cached_sum, result_key
from profiles.queries.context import Coverage, QueryContext, ScanStats
from profiles.queries.plan import QueryPlan
from profiles.queries.scan import Trees, scan
from profiles.queries.scan_input import Accumulator, ScanInput
from profiles.queries.selection import Group, InvalidQuery


def merge_trees(
    context: QueryContext, plan: QueryPlan, metric: Metric, group: Group
) -> tuple[Tree, Coverage]:
    """Merge the call trees of all matching profiles that have the metric.

    Profiles that cannot be read are left out and listed in the coverage. The result of a plan that
    is entirely in blocks is cached and shared: do not modify the tree. Raise InvalidQuery if the
    sum passes 64 bits or the tree has more than MAX_QUERY_NODES nodes.
    """
    key = result_key(plan, (metric, group))
    merged: tuple[Tree, Coverage] | None = cached_sum(key)
    if merged is None:
        trees = Trees.FUNCTIONS if group is Group.FUNCTION else Trees.WHOLE
        with explain_errors(), scan(context, plan, metric, trees=trees) as inputs:
            merge = _merge(context, plan, [metric], group)
            coverage = add_all(context, inputs, merge)
            merged = merge.tree(), coverage
        cache_sum(key, merged, 2 * len(merged[0].id), is_readable=coverage.is_readable)
    return merged


def merge_metrics(
    context: QueryContext, plan: QueryPlan, metric: Metric, among: Sequence[Metric], group: Group
) -> tuple[Tree, Coverage]:
    """Merge as `merge_trees` does, with further metrics in the same tree.

    From `among`, the tree has `metric` and each metric that exactly the same profiles have. If a
    sum passes 64 bits or the tree has too many nodes, merge `metric` alone.
    """
    stats = ScanStats(shared={*among})
    with explain_errors(), scan(context, plan, metric) as inputs:
        merge = _merge(context, plan, among, group)
        try:
            coverage = add_all(context, inputs, merge, stats)
        except (BadProfile, TooLarge):
            # The limit may have been passed by the other metrics alone.
            coverage = None
    if coverage is None:
        return merge_trees(context, plan, metric, group)
    tree = merge.tree()
    shared = [k for k, each in enumerate(among) if each == metric or each in stats.shared]
    labelled = tree.labelled
    if labelled:
        labelled = replace(labelled, values=labelled.values[shared])
    metrics = tuple(among[k] for k in shared)
    return replace(tree, metrics=metrics, self=tree.self[shared], labelled=labelled), coverage


def _merge(
    context: QueryContext, plan: QueryPlan, metrics: Sequence[Metric], group: Group
) -> Merge:
    by_function, type_ = group is Group.FUNCTION, plan.selection.type
    return Merge(metrics, by_function, settings.MAX_QUERY_NODES, type_, context.check)


def add_all(
    context: QueryContext,
    inputs: Iterable[ScanInput],
    accumulator: Accumulator,
    stats: ScanStats | None = None,
) -> Coverage:
    """Add all inputs to the accumulator and return their coverage.

    Raise BadProfile if a sum passes 64 bits, and TooLarge if the accumulator passes its limit.
    """
    context = context.for_scan(stats)
    for each in inputs:
        each.add_to(context, accumulator)
    coverage = context.stats.coverage()
    require_64_bits(coverage.total)
    return coverage


def require_64_bits(total: int) -> None:
    """Raise BadProfile if a query's total does not fit in 64 bits.

    Accumulators check the self values of nodes; this check covers the totals of nodes too.
    """
    if total >= 2**63:
        raise BadProfile("The sum of the values exceeds 64 bits. Select fewer profiles.")


@contextmanager
def explain_errors(
    of: tuple[type[Exception], ...] = (BadProfile, TooLarge),
) -> Iterator[None]:
    """Turn errors of an accumulator, those of the types `of`, into InvalidQuery with advice."""
    try:
        yield
    except of as error:
        if isinstance(error, TooLarge) and error.limit == LIMIT:
            raise InvalidQuery(
                f"FLAMEWATCH_MAX_QUERY_NODES allows {error.allowed:,} nodes in a merged call tree, "
                "and these profiles have more. Try a shorter timespan, or fewer zones and versions."
            ) from error
        raise InvalidQuery(f"These profiles cannot be merged: {error}") from error
