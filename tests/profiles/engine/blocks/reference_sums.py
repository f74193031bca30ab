"""Slow reference in plain Python for aggregates of profiles, which blocks must match."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import BlockProfile
from profiles.engine.calltree.preorder_columns import totals
from profiles.engine.calltree.top import top
from profiles.engine.encoding.codec import decode
from profiles.engine.metrics import Metric
from profiles.engine.stats.sum_of_squares import TreeVariance
from tests.profiles.engine.grouped_trees import by_function
from tests.profiles.engine.random_trees import meaning

Squares = dict[object, tuple[float, int]]


def metrics_of(profiles: Iterable[BlockProfile]) -> list[Metric]:
    return sorted({Metric(n, u) for p in profiles for n, u, _ in p.totals})


def merged(
    profiles: Sequence[BlockProfile], metrics: Sequence[Metric], by_function: bool
) -> object:
    merge = Merge(metrics, by_function)
    for profile in profiles:
        merge.add_tree(decode(profile.tree))
    return meaning(merge.tree())


def reference_variance(profiles: Iterable[BlockProfile], metric: Metric) -> Squares:
    """Return (Σ of squares, profiles) by node id, by ("self" or "total", name, file), and of all.

    The totals of whole profiles have the key "whole".
    """
    sums: dict[object, list[int]] = defaultdict(lambda: [0, 0])
    for profile in profiles:
        tree = by_function(decode(profile.tree))
        if metric not in tree.metrics:
            continue
        k = tree.metrics.index(metric)
        values: dict[object, int] = dict(
            zip(tree.id.tolist(), totals(tree.parent, tree.self[k]).tolist(), strict=True)
        )
        values["whole"] = int(tree.self[k].sum())
        for row in top(tree, k):
            values["self", row.name, row.file] = row.self
            values["total", row.name, row.file] = row.total
        for key, value in values.items():
            sums[key][0] += value * value
            sums[key][1] += value != 0
    return {key: (square, count) for key, (square, count) in sums.items() if count}


def squares_of(found: TreeVariance) -> Squares:
    """Return the sums of squares of a result in the same form."""
    squares: dict[object, tuple[float, int]] = dict(
        zip(
            found.tree.id.tolist(),
            zip(found.nodes.square.tolist(), found.nodes.present.tolist(), strict=True),
            strict=True,
        )
    )
    squares["whole"] = float(found.whole.square[0]), int(found.whole.present[0])
    functions = found.functions
    for i, key in enumerate(zip(functions.name, functions.file, strict=True)):
        own, total = functions.self_square[i], functions.total_square[i]
        squares["self", *key] = float(own), int(functions.self_present[i])
        squares["total", *key] = float(total), int(functions.total_present[i])
    return {key: (square, count) for key, (square, count) in squares.items() if count}
