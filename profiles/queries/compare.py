"""Comparison of two selections, node by node, with tests of significance."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from profiles.engine.calltree.align import align
from profiles.engine.calltree.subtree import node_of
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import DEFAULT_METRICS, Metric
from profiles.engine.stats import comparison as engine
from profiles.engine.stats.comparison import ComparedTrees, FunctionPairs, compare_trees
from profiles.engine.stats.per_profile import MAX_CELLS, PerProfile
from profiles.engine.stats.significance import MIN_PROFILES, REAL
from profiles.engine.stats.spread import MeasuredSum, of_moments, of_rows
from profiles.engine.stats.sum_of_squares import VarianceMerge
from profiles.queries import result_cache
from profiles.queries.aggregate import added, explained, merge_selection, summed
from profiles.queries.planning.metric_choice import chosen, look_ahead, metrics_of
from profiles.queries.planning.project_ids import project_id_of
from profiles.queries.rendering.view import highlighted, is_plain, shown
from profiles.queries.results import CompareResult, Coverage, FunctionChange, Intervals
from profiles.queries.scanning.scan import PlannedScan, scan
from profiles.queries.scanning.scan_input import Trees
from profiles.queries.selection import Group, InvalidQuery, Selection, Shape, View, watched
from profiles.storage.snapshot import snapshot

Sides = tuple[Selection, Selection]
_Side = tuple[MeasuredSum, Coverage]
_sides_known = result_cache.ResultCache[_Side]()
_threads = ThreadPoolExecutor(os.cpu_count() or 1, "other-side")


@watched
def run_compare(
    a: Selection, b: Selection, view: View, deadline: float | None = None
) -> CompareResult:
    """Compare two selections in a view; differences are A - B of per-profile means.

    The tests cover all nodes and functions of the filtered tree: the view's root and folding
    restrict what is returned, not what is tested. Raise InvalidQuery also if the two selections
    differ in project, service or type.
    """
    if (a.project, a.service, a.type) != (b.project, b.service, b.type):
        raise InvalidQuery("Only profiles of one service and type can be compared.")
    with snapshot():
        look_ahead(a, b)
        metrics = _common(a, metrics_of(a), metrics_of(b))
        metric = chosen(a, view, metrics)
        found, coverages, why = _sides((a, b), metric, view, deadline)
    if view.root is not None:
        found = _below(found, view.root, view.shape)
    profiles = coverages[0].profiles, coverages[1].profiles
    drawn, folded = engine.fold(found, profiles, view.max_nodes)
    return CompareResult(
        selections=(a, b),
        project_id=project_id_of(a),
        view=view,
        metric=metric,
        metrics=metrics,
        coverages=coverages,
        tree=drawn.tree,
        intervals=None if why else Intervals(drawn.nodes.low, drawn.nodes.high, drawn.nodes.q),
        why_no_intervals=why,
        functions=_changes(found.functions, profiles),
        folded=folded,
        highlighted=highlighted(drawn.tree, view),
    )


class _Found(NamedTuple):
    compared: ComparedTrees
    coverages: tuple[Coverage, Coverage]
    why_no_intervals: str


def _common(a: Selection, of_a: tuple[Metric, ...], of_b: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """Return the metrics that both sides have.

    Without a common metric, return those of side A, or of B if A has only the type's default
    metric, as a side without profiles does.
    """
    both = tuple(metric for metric in of_a if metric in of_b)
    nothing = (DEFAULT_METRICS[a.type.value],)  # `metrics_of` a side without profiles
    return both or (of_b if of_a == nothing else of_a)


def _sides(sides: Sides, metric: Metric, view: View, deadline: float | None) -> _Found:
    whole = replace(view, root=None)
    try:
        found = _tested(sides, metric, whole, deadline)
    except TooLarge as error:
        why = f"Intervals of this view need every profile by itself: {error}."
        return _untested(sides, metric, whole, deadline, why)
    fewest = min(coverage.profiles for coverage in found.coverages)
    if fewest >= MIN_PROFILES:
        return found
    why = f"Intervals need {MIN_PROFILES} profiles on either side; here one has {fewest}."
    return found._replace(why_no_intervals=why)


def _tested(sides: Sides, metric: Metric, view: View, deadline: float | None) -> _Found:
    with explained():
        if is_plain(view):
            return _by_moments(sides, metric, deadline)
    with explained((BadProfile,)):  # on TooLarge, `_sides` compares without intervals
        return _by_profile(sides, metric, view, deadline)


def _by_moments(sides: Sides, metric: Metric, deadline: float | None) -> _Found:
    with ExitStack() as snapshots:
        found = [
            snapshots.enter_context(
                scan(side, metric, deadline=deadline, moments=True, trees=Trees.FUNCTIONS)
            )
            for side in sides
        ]
        works = [
            partial(_measured, of, side.type, metric, result_cache.key(side, metric, of))
            for side, of in zip(sides, found, strict=True)
        ]
        beside = next((n for n in (1, 0) if found[n].is_in_blocks), None)
        (first, coverage), (second, other) = _both(works, beside, snapshots)
    return _Found(compare_trees(first, second), (coverage, other), "")


def _both(
    works: Sequence[Callable[[], _Side]], beside: int | None, snapshots: ExitStack
) -> tuple[_Side, _Side]:
    """Sum both sides and return them in order, A before B.

    `beside` is the index of a side that is entirely in blocks, which is summed in another thread:
    most of that work releases the GIL, and head rows have to be waited for.
    """
    if beside is None:
        return works[0](), works[1]()
    other = _threads.submit(copy_context().run, works[beside])
    snapshots.callback(_ended, other)
    here = works[1 - beside]()
    return (here, other.result()) if beside else (other.result(), here)


def _ended(work: Future[_Side]) -> None:
    """Cancel the work or wait for its end, before its snapshot ends or after the other failed."""
    if not work.cancel():
        wait([work])


def _measured(
    found: PlannedScan, profile_type: str, metric: Metric, key: result_cache.ResultKey | None
) -> _Side:
    """Sum one side with its variance; cache the result if the side is entirely in blocks."""
    known = _sides_known.recall(key)
    if known is None:
        merge = VarianceMerge(metric, max_nodes=settings.MAX_QUERY_NODES, profile_type=profile_type)
        coverage = summed(found, merge)
        measured = of_moments(merge.moments(), coverage.profiles)
        known = measured, coverage
        gaps, nodes = not coverage.is_readable, len(measured.tree.id)
        _sides_known.remember(key, sum=known, numbers=3 * nodes, gaps=gaps)
    return known


def _by_profile(sides: Sides, metric: Metric, view: View, deadline: float | None) -> _Found:
    """Compare in a view that changes the nodes, from the values of every single profile.

    Sums of squares exist for the nodes of the plain view only. Raise TooLarge beyond MAX_CELLS.
    """
    apart = PerProfile(metric, view.group is Group.FUNCTION, MAX_CELLS, sides[0].type)
    first = added(sides[0], metric, apart, deadline, by_profile=True)
    cut = apart.next_side()
    second = added(sides[1], metric, apart, deadline, by_profile=True)
    kept = apart.tree()

    def compare(view: View) -> ComparedTrees:
        tree = shown(kept, view)
        return compare_trees(
            *(of_rows(tree, metric, rows) for rows in (slice(cut), slice(cut, None)))
        )

    return _Found(_as_shown(compare, view), (first, second), "")


def _untested(sides: Sides, metric: Metric, view: View, deadline: float | None, why: str) -> _Found:
    (a, first), (b, second) = (
        merge_selection(side, metric, view.group, deadline) for side in sides
    )

    def compare(view: View) -> ComparedTrees:
        tree, _ = align(shown(a, view), shown(b, view))
        return ComparedTrees(tree, engine.untested(len(tree.id)), engine.pairs(tree))

    return _Found(_as_shown(compare, view), (first, second), why)


def _as_shown(compare: Callable[[View], ComparedTrees], view: View) -> ComparedTrees:
    """Compare in the view's shape, but always list the functions of the top-down tree."""
    called = compare(replace(view, shape=Shape.TOP_DOWN))
    return called if view.shape is Shape.TOP_DOWN else engine.turned(compare(view), called)


def _below(found: ComparedTrees, root: int, shape: Shape) -> ComparedTrees:
    node = node_of(found.tree, root)
    if node is None:
        raise InvalidQuery(f"The selected profiles have no node {root:016x} in this view.")
    cut = engine.below(found, node)
    return cut if shape is Shape.TOP_DOWN else replace(cut, functions=found.functions)


def _changes(pairs: FunctionPairs, profiles: tuple[int, int]) -> tuple[FunctionChange, ...]:
    """Return the functions with a value on either side, the largest absolute difference first.

    Equal differences of means are in order of name, then file. The rows are made from whole
    columns, because there may be tens of thousands of functions.
    """
    a, b = (max(n, 1) for n in profiles)
    sums = np.stack([pairs.self[0], pairs.total[0], pairs.self[1], pairs.total[1]])
    some = np.flatnonzero(sums.any(axis=0))
    tested = pairs.tested
    known = ~np.isnan(tested.q)
    rows = map(
        FunctionChange,
        pairs.names,
        pairs.files,
        *sums.tolist(),
        *(_or_none(column, known) for column in (tested.low, tested.high, tested.q)),
        (known & (tested.q <= REAL)).tolist(),
    )
    smallest = (-np.abs(sums[1] / a - sums[3] / b)).tolist()
    keyed = [*zip(smallest, pairs.names, pairs.files, count(), rows, strict=False)]
    return tuple(row for *_, row in sorted(keyed[i] for i in some.tolist()))


def _or_none(column: NDArray[np.float64], known: NDArray[np.bool_]) -> list[float | None]:
    values = column.astype(object)
    values[~known] = None
    found: list[float | None] = values.tolist()
    return found
