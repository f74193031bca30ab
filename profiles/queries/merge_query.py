"""Sum of everything that a selection has in one metric, the common part of all kinds of query."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

from profiles.engine.metrics import Metric
from profiles.queries.cache import find_sum, store_sum
from profiles.queries.context import QueryContext
from profiles.queries.plan import (
    QueryPlan,
    ReadOptions,
    choose_metric,
    plan_query,
    profile_metrics,
    require_own,
)
from profiles.queries.saved_tree_input import list_saved_metrics, plan_saved_tree
from profiles.queries.scan import Plan
from profiles.queries.selection import ProfileSelection, SavedTree, Selection, View

S = TypeVar("S")
P = TypeVar("P", QueryPlan, Plan)


class Merged(NamedTuple, Generic[S]):
    """Result of an accumulator, with the metric that it sums."""

    metric: Metric
    metrics: tuple[Metric, ...]  # all metrics that the view may choose
    sum: S


class MergeQuery(ABC, Generic[P, S]):
    """Kind of query: what it reads of a selection, and the accumulator that sums it.

    Subclass ProfilesQuery, or SelectionQuery if saved trees can be selected, too; and CachedQuery
    if the sum costs more than planning its reads. Subclasses are frozen dataclasses, whose fields
    are the parameters of the query.
    """

    selection: Selection
    view: View  # which names the metric

    @property
    def options(self) -> ReadOptions:
        """Return what the query needs of the profiles that it reads."""
        return ReadOptions()

    @abstractmethod
    def plan(self, context: QueryContext) -> P:
        """Plan the reads; call this and `accumulate` inside one snapshot."""

    @abstractmethod
    def accumulate(self, context: QueryContext, plan: P, metric: Metric) -> S:
        """Read the plan and sum it. Raise InvalidQuery if the sum passes a limit."""

    def run(self, context: QueryContext) -> Merged[S]:
        """Choose the metric and return the sum.

        Raise MetricNotFound if the selection does not have the view's metric.
        """
        with context.snapshot:
            metrics = list_metrics(context, self.selection)
            metric = choose_metric(self.selection, self.view, metrics)
            return Merged(metric, metrics, self.sum(context, metric))

    def sum(self, context: QueryContext, metric: Metric) -> S:
        """Return the sum in a metric that the selection may lack; otherwise like `run`."""
        with context.snapshot:
            return self.accumulate(context, self.plan(context), metric)


class ProfilesQuery(MergeQuery[QueryPlan, S]):
    """Kind of query whose `selection` is a ProfileSelection."""

    selection: ProfileSelection

    def plan(self, context: QueryContext) -> QueryPlan:
        return plan_query(context, self.selection, self.options)


class SelectionQuery(MergeQuery[Plan, S]):
    """Kind of query of profiles, or of a saved tree, which `add_profiles` reads."""

    def plan(self, context: QueryContext) -> Plan:
        if isinstance(self.selection, SavedTree):
            return plan_saved_tree(context, self.selection)
        return plan_query(context, self.selection, self.options)


class CachedQuery(MergeQuery[P, S]):
    """Kind of query whose sums go to the result cache, if their plan cannot change any more.

    Cached sums are shared: do not modify them. Their classes are `encodable`.
    """

    @property
    @abstractmethod
    def cache_key(self) -> Hashable:
        """Return the parameters of the sum besides its plan and metric.

        The result cache accepts values of the types that `result_codec` can encode.
        """

    @abstractmethod
    def count_numbers(self, result: S) -> int:
        """Return the number of array elements of a sum, for the size of the cache."""

    @abstractmethod
    def is_readable(self, result: S) -> bool:
        """Return False if unreadable profiles are missing: such a sum is not cached."""

    def sum(self, context: QueryContext, metric: Metric) -> S:
        """Return the sum, from the result cache if it is there."""
        with context.snapshot:
            plan = self.plan(context)
            key = (type(self).__name__, metric, self.cache_key)
            result: S | None = find_sum(plan.result_key, key)
            if result is None:
                result = self.accumulate(context, plan, metric)
                numbers, is_readable = self.count_numbers(result), self.is_readable(result)
                store_sum(plan.result_key, key, result, numbers, is_readable=is_readable)
            return result


def list_metrics(context: QueryContext, selection: Selection) -> tuple[Metric, ...]:
    """Return the metrics of the selection's newest profiles, or of a saved tree.

    The default one is the first. Without profiles, return the type's default metric alone.
    """
    require_own(context, selection)
    if isinstance(selection, SavedTree):
        return list_saved_metrics(context, selection)
    return profile_metrics(context, selection)
