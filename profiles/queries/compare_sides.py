"""Sums of two selections, node by node, with tests of significance where there can be any."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from django.conf import settings

from profiles.engine.calltree.align import align
from profiles.engine.coverage import Coverage
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import Metric
from profiles.engine.stats import comparison as engine
from profiles.engine.stats.comparison import (
    ComparedTrees,
    compare_trees,
)
from profiles.engine.stats.per_profile import MAX_CELLS, PerProfile
from profiles.engine.stats.significance import MIN_PROFILES
from profiles.engine.stats.spread import MeasuredSum, measure_rows, measure_variance
from profiles.engine.stats.sum_of_squares import VarianceMerge
from profiles.queries.context import QueryContext
from profiles.queries.merge_query import CachedQuery, ProfilesQuery
from profiles.queries.plan import QueryPlan, ReadOptions, Trees, plan_query
from profiles.queries.result_codec import encodable
from profiles.queries.scan import add_profiles, explain_errors
from profiles.queries.selection import (
    FilterOption,
    Group,
    ProfileSelection,
    SavedTree,
    Selection,
    Shape,
    View,
)
from profiles.queries.tree_merge import TreeMerge
from profiles.queries.views import apply_view

Sides = tuple[Selection, Selection]
_ProfileSides = tuple[ProfileSelection, ProfileSelection]


@encodable
class UntestedReason(StrEnum):
    SNAPSHOT = "snapshot"
    SAMPLE_LABELS = "sample_labels"
    TOO_MANY_VALUES = "too_many_values"
    FEW_PROFILES = "few_profiles"


@encodable
@dataclass(frozen=True, slots=True)
class Untested:
    """Reason for which a comparison has no tests of significance, and so no intervals.

    The text is the sentence of the query API.
    """

    reason: UntestedReason
    # TOO_MANY_VALUES: values of individual profiles that the view needs, at least, and the limit;
    # FEW_PROFILES: profiles of the smaller side, and the least number that a test needs.
    found: int = 0
    limit: int = 0

    def __str__(self) -> str:
        match self.reason:
            case UntestedReason.SNAPSHOT:
                return "No intervals: a snapshot has the sums of its profiles only."
            case UntestedReason.SAMPLE_LABELS:
                return "No intervals: samples selected by their labels are not tested."
            case UntestedReason.TOO_MANY_VALUES:
                return (
                    f"No intervals: this view needs {self.found:,} or more values of individual "
                    f"profiles, and the limit is {self.limit:,}. Select fewer profiles."
                )
            case UntestedReason.FEW_PROFILES:
                return (
                    f"No intervals: each side needs {self.limit:,} profiles or more, and one has "
                    f"{self.found:,}."
                )


@encodable
class _Measured(NamedTuple):
    sum: MeasuredSum
    coverage: Coverage


class ComparedSides(NamedTuple):
    """Nodes and functions of both sides, before the view's root and folding."""

    trees: ComparedTrees
    coverages: tuple[Coverage, Coverage]
    untested: Untested | None


def compare_sides(context: QueryContext, sides: Sides, metric: Metric, view: View) -> ComparedSides:
    """Compare the sides in the view without its root, with tests of significance if possible."""
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
) -> ComparedSides:
    with explain_errors():
        if _is_plain(view):
            return _compare_by_variance(context, sides, metric)
    with explain_errors((BadProfile,)):  # on TooLarge, `compare_sides` goes on without intervals
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


def _compare_by_variance(
    context: QueryContext, sides: _ProfileSides, metric: Metric
) -> ComparedSides:
    a, b = (_VarianceMerge(side).sum(context, metric) for side in sides)
    return ComparedSides(compare_trees(a.sum, b.sum, context.check), (a.coverage, b.coverage), None)


def _compare_by_profile(
    context: QueryContext, sides: _ProfileSides, metric: Metric, view: View
) -> ComparedSides:
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

    return ComparedSides(_compare_in_shape(compare, view), (first, second), None)


def _add_side(
    context: QueryContext, side: ProfileSelection, metric: Metric, profiles: PerProfile
) -> Coverage:
    plan = plan_query(context, side, ReadOptions(day_blocks=False, in_order=True))
    return add_profiles(context, plan, metric, profiles)


def _compare_untested(
    context: QueryContext, sides: Sides, metric: Metric, view: View, untested: Untested
) -> ComparedSides:
    whole = View(metric)
    (a, first), (b, second) = (
        TreeMerge(side, whole, view.group).sum(context, metric) for side in sides
    )

    def compare(view: View) -> ComparedTrees:
        tree, _ = align(apply_view(context, a, view), apply_view(context, b, view), context.check)
        nodes, whole = engine.build_untested(len(tree.id)), engine.build_untested(1)
        return ComparedTrees(tree, nodes, engine.pairs(tree, context.check), whole)

    return ComparedSides(_compare_in_shape(compare, view), (first, second), untested)


def _compare_in_shape(compare: Callable[[View], ComparedTrees], view: View) -> ComparedTrees:
    """Compare in the view's shape, but always list the functions of the top-down tree."""
    called = compare(replace(view, shape=Shape.TOP_DOWN))
    return (
        called if view.shape is Shape.TOP_DOWN else engine.combine_inverted(compare(view), called)
    )
