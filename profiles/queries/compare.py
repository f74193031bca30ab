"""Comparison of two selections, node by node, with tests of significance."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from profiles.engine.calltree.align import align
from profiles.engine.calltree.subtree import find_node
from profiles.engine.coverage import Coverage
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import DEFAULT_METRICS, Metric
from profiles.engine.stats import comparison as engine
from profiles.engine.stats.comparison import ComparedTrees, FunctionPairs, compare_trees
from profiles.engine.stats.per_profile import MAX_CELLS, PerProfile
from profiles.engine.stats.significance import MIN_PROFILES, REAL
from profiles.engine.stats.spread import MeasuredSum, measure_rows, measure_variance
from profiles.engine.stats.sum_of_squares import VarianceMerge
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import CachedQuery, ProfilesQuery, list_metrics
from profiles.queries.plan import QueryPlan, ReadOptions, Trees, choose_metric, plan_query
from profiles.queries.result_codec import encodable
from profiles.queries.results import (
    CompareResult,
    FunctionChange,
    Intervals,
    TotalChange,
    Untested,
    UntestedReason,
)
from profiles.queries.scan import add_profiles, explain_errors
from profiles.queries.selection import (
    FilterOption,
    Group,
    InvalidQuery,
    ProfileSelection,
    SavedTree,
    Selection,
    Shape,
    View,
)
from profiles.queries.tree_merge import TreeMerge
from profiles.queries.views import apply_view, find_highlighted

Sides = tuple[Selection, Selection]
_ProfileSides = tuple[ProfileSelection, ProfileSelection]


def run_compare(context: QueryContext, a: Selection, b: Selection, view: View) -> CompareResult:
    """Compare a selection `a` with its baseline `b`; differences are a - b of per-profile means.

    The tests cover all nodes and functions of the filtered tree: the view's root and folding
    restrict what is returned, not what is tested. Raise InvalidQuery also if the two selections
    differ in project, service or type.
    """
    if (a.project, a.service, a.type) != (b.project, b.service, b.type):
        raise InvalidQuery("Both sides of a comparison must have the same service and type.")
    with context.snapshot:
        metrics = _common(a, list_metrics(context, a), list_metrics(context, b))
        metric = choose_metric(a, view, metrics)
        compared, coverages, untested = _compare(context, (a, b), metric, view)
    if view.root is not None:
        compared = _below(context, compared, view.root, view.shape)
    profiles = coverages[0].profiles, coverages[1].profiles
    drawn, folded = engine.fold(compared, profiles, view.max_nodes, context.check)
    return CompareResult(
        selections=(a, b),
        view=view,
        metric=metric,
        metrics=metrics,
        coverages=coverages,
        tree=drawn.tree,
        intervals=None if untested else Intervals(drawn.nodes.low, drawn.nodes.high, drawn.nodes.q),
        untested=untested,
        whole=_whole(compared),
        functions=_changes(compared.functions, profiles),
        folded=folded,
        highlighted=find_highlighted(context, drawn.tree, view),
    )


@encodable
class _Measured(NamedTuple):
    sum: MeasuredSum
    coverage: Coverage


class _Compared(NamedTuple):
    trees: ComparedTrees
    coverages: tuple[Coverage, Coverage]
    untested: Untested | None


def _common(a: Selection, of_a: tuple[Metric, ...], of_b: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """Return the metrics that both sides have.

    Without a common metric, return those of the selected side `a`, or of its baseline `b` if the
    selected side has only the type's default metric, as a side without profiles does.
    """
    both = tuple(metric for metric in of_a if metric in of_b)
    nothing = (DEFAULT_METRICS[a.type.value],)  # of a side without profiles
    return both or (of_b if of_a == nothing else of_a)


def _compare(context: QueryContext, sides: Sides, metric: Metric, view: View) -> _Compared:
    whole = replace(view, root=None)
    a, b = sides
    if isinstance(a, SavedTree) or isinstance(b, SavedTree):
        untested = Untested(UntestedReason.SNAPSHOT)
        return _compare_untested(context, sides, metric, whole, untested)
    if a.samples or b.samples:
        untested = Untested(UntestedReason.SAMPLE_LABELS)
        return _compare_untested(context, sides, metric, whole, untested)
    try:
        compared = _compare_tested(context, (a, b), metric, whole)
    except TooLarge as error:
        untested = Untested(UntestedReason.TOO_MANY_VALUES, error.value, error.allowed)
        return _compare_untested(context, sides, metric, whole, untested)
    fewest = min(coverage.profiles for coverage in compared.coverages)
    if fewest >= MIN_PROFILES:
        return compared
    return compared._replace(untested=Untested(UntestedReason.FEW_PROFILES, fewest, MIN_PROFILES))


def _is_plain(view: View) -> bool:
    """Return True if a view's nodes and values, before its root, equal the merge by function."""
    changes = any(each.option is not FilterOption.HIGHLIGHT for each in view.filters)
    turned = view.shape is not Shape.TOP_DOWN or view.group is not Group.FUNCTION
    return not changes and not turned and view.focus is None


def _compare_tested(
    context: QueryContext, sides: _ProfileSides, metric: Metric, view: View
) -> _Compared:
    with explain_errors():
        if _is_plain(view):
            return _compare_by_variance(context, sides, metric)
    with explain_errors((BadProfile,)):  # on TooLarge, `_compare` goes on without intervals
        return _compare_by_profile(context, sides, metric, view)


@dataclass(frozen=True)
class _VarianceMerge(ProfilesQuery[_Measured], CachedQuery[QueryPlan, _Measured]):
    """Sum of one side by function, with its variance."""

    selection: ProfileSelection
    view: View = field(default_factory=View)

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(trees=Trees.FUNCTIONS, variance=True, in_order=True)

    @property
    def cache_key(self) -> str:
        return "variance"

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> _Measured:
        most = settings.MAX_QUERY_NODES
        merge = VarianceMerge(metric, most, self.selection.type, context.check)
        coverage = add_profiles(context, plan, metric, merge)
        side = measure_variance(merge.variance(), coverage.profiles, context.check)
        return _Measured(side, coverage)

    def count_numbers(self, result: _Measured) -> int:
        return 3 * len(result.sum.tree.id)

    def is_readable(self, result: _Measured) -> bool:
        return result.coverage.is_readable


def _compare_by_variance(context: QueryContext, sides: _ProfileSides, metric: Metric) -> _Compared:
    a, b = (_VarianceMerge(side).sum(context, metric) for side in sides)
    return _Compared(compare_trees(a.sum, b.sum, context.check), (a.coverage, b.coverage), None)


def _compare_by_profile(
    context: QueryContext, sides: _ProfileSides, metric: Metric, view: View
) -> _Compared:
    """Compare in a view that changes the nodes, from the values of every single profile.

    Sums of squares exist for the nodes of the plain view only. Raise TooLarge beyond MAX_CELLS.
    """
    by_function, type_ = view.group is Group.FUNCTION, sides[0].type
    profiles = PerProfile(metric, by_function, MAX_CELLS, type_, context.check)
    first = _add_side(context, sides[0], metric, profiles)
    cut = profiles.next_side()
    second = _add_side(context, sides[1], metric, profiles)
    whole = profiles.tree()

    def compare(view: View) -> ComparedTrees:
        tree = apply_view(context, whole, view)
        a, b = (
            measure_rows(tree, metric, rows, context.check)
            for rows in (slice(cut), slice(cut, None))
        )
        return compare_trees(a, b, context.check)

    return _Compared(_compare_in_shape(compare, view), (first, second), None)


def _add_side(
    context: QueryContext, side: ProfileSelection, metric: Metric, profiles: PerProfile
) -> Coverage:
    plan = plan_query(context, side, ReadOptions(day_blocks=False, in_order=True))
    return add_profiles(context, plan, metric, profiles)


def _compare_untested(
    context: QueryContext, sides: Sides, metric: Metric, view: View, untested: Untested
) -> _Compared:
    whole = View(metric)
    (a, first), (b, second) = (
        TreeMerge(side, whole, view.group).sum(context, metric) for side in sides
    )

    def compare(view: View) -> ComparedTrees:
        tree, _ = align(apply_view(context, a, view), apply_view(context, b, view), context.check)
        nodes, whole = engine.build_untested(len(tree.id)), engine.build_untested(1)
        return ComparedTrees(tree, nodes, engine.pairs(tree, context.check), whole)

    return _Compared(_compare_in_shape(compare, view), (first, second), untested)


def _compare_in_shape(compare: Callable[[View], ComparedTrees], view: View) -> ComparedTrees:
    """Compare in the view's shape, but always list the functions of the top-down tree."""
    called = compare(replace(view, shape=Shape.TOP_DOWN))
    return (
        called if view.shape is Shape.TOP_DOWN else engine.combine_inverted(compare(view), called)
    )


def _below(
    context: QueryContext, compared: ComparedTrees, root: int, shape: Shape
) -> ComparedTrees:
    node = find_node(compared.tree, root)
    if node is None:
        raise InvalidQuery(
            f"No node {root:016x} in this view of the selected profiles. Remove `root`."
        )
    cut = engine.below(compared, node, context.check)
    return cut if shape is Shape.TOP_DOWN else replace(cut, functions=compared.functions)


def _whole(compared: ComparedTrees) -> TotalChange:
    a_total, b_total = compared.tree.self.sum(axis=1).tolist()
    low, high, q = (
        None if np.isnan(column[0]) else float(column[0])
        for column in (compared.whole.low, compared.whole.high, compared.whole.q)
    )
    return TotalChange(a_total, b_total, low, high, q, real=q is not None and q <= REAL)


def _changes(pairs: FunctionPairs, profiles: tuple[int, int]) -> tuple[FunctionChange, ...]:
    """Return the functions with a value on either side, the largest absolute difference first.

    Equal differences of means are in order of name, then file. The rows are made from whole
    columns, because there may be tens of thousands of functions.
    """
    a, b = (max(n, 1) for n in profiles)
    sums = np.stack([pairs.self[0], pairs.total[0], pairs.self[1], pairs.total[1]])
    some = np.flatnonzero(sums.any(axis=0))
    tested = pairs.tested
    is_tested = ~np.isnan(tested.q)
    rows = map(
        FunctionChange,
        pairs.names,
        pairs.files,
        *sums.tolist(),
        *(_or_none(column, is_tested) for column in (tested.low, tested.high, tested.q)),
        (is_tested & (tested.q <= REAL)).tolist(),
    )
    smallest = (-np.abs(sums[1] / a - sums[3] / b)).tolist()
    keyed = [*zip(smallest, pairs.names, pairs.files, count(), rows, strict=False)]
    return tuple(row for *_, row in sorted(keyed[i] for i in some.tolist()))


def _or_none(column: NDArray[np.float64], tested: NDArray[np.bool_]) -> list[float | None]:
    values = column.astype(object)
    values[~tested] = None
    rows: list[float | None] = values.tolist()
    return rows
