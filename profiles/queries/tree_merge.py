"""Merge of the call trees of a selection, in one metric or several, whole or split by a label."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.conf import settings
from django.utils.translation import gettext as _

from profiles.engine.accumulators.merge import Merge
from profiles.engine.accumulators.split import MAX_VALUES, OTHER, SplitMerge
from profiles.engine.calltree.samples import select_samples
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.deployments import get_deployments
from profiles.queries.merge_query import CachedQuery, SelectionQuery
from profiles.queries.plan import QueryPlan, ReadOptions, Trees
from profiles.queries.result_codec import encodable
from profiles.queries.saved_tree_input import SavedTreePlan
from profiles.queries.scan import Plan, add_profiles, explain_errors, require_64_bits, scan
from profiles.queries.selection import (
    Group,
    Grouping,
    GroupKind,
    InvalidQuery,
    Selection,
    View,
)


@encodable
class MergedTree(NamedTuple):
    """Sum of call trees, and the profiles that it includes."""

    tree: Tree
    coverage: Coverage


@dataclass(frozen=True)
class _TreeQuery(SelectionQuery[MergedTree]):
    selection: Selection
    view: View
    group: Group = Group.FUNCTION

    @property
    def options(self) -> ReadOptions:
        split_by = self.view.split
        # Trees by function have no sample labels, unless they are split.
        by_function = self.group is Group.FUNCTION and bool(split_by or not self.selection.samples)
        return ReadOptions(
            trees=Trees.FUNCTIONS if by_function else Trees.WHOLE,
            by_labels=split_by is not None and split_by.kind is GroupKind.LABEL,
        )


@dataclass(frozen=True)
class TreeMerge(_TreeQuery, CachedQuery[Plan, MergedTree]):
    """Merge of the call trees of all matching profiles that have the metric.

    If the selection has sample labels, the tree has the values of these samples only. With a split
    in the view, the tree keeps the values of that label apart in `labelled`; `apply_view` gives
    them roots. Profiles that cannot be read are left out and listed in the coverage. Raise
    InvalidQuery if the sum passes 64 bits or the tree has more than MAX_QUERY_NODES nodes.
    """

    @property
    def cache_key(self) -> Hashable:
        return self.group, self.view.split

    def accumulate(self, context: QueryContext, plan: Plan, metric: Metric) -> MergedTree:
        with explain_errors():
            return _merge(context, plan, metric, [metric], self.group, self.view.split)

    def count_numbers(self, result: MergedTree) -> int:
        labelled = result.tree.labelled
        return 2 * len(result.tree.id) + (3 * len(labelled.node) if labelled else 0)

    def is_readable(self, result: MergedTree) -> bool:
        return result.coverage.is_readable


@dataclass(frozen=True)
class MetricsMerge(_TreeQuery):
    """Merge as TreeMerge, with further metrics in the same tree.

    From `candidates`, the tree has the view's metric and each metric that exactly the same profiles
    have. If a sum passes 64 bits or the tree has too many nodes, it has the view's metric alone.
    """

    candidates: tuple[Metric, ...] = ()

    def accumulate(self, context: QueryContext, plan: Plan, metric: Metric) -> MergedTree:
        stats = ScanStats(shared={*self.candidates})
        try:
            split_by = self.view.split
            merged = _merge(context, plan, metric, self.candidates, self.group, split_by, stats)
        except (BadProfile, TooLarge):
            # The limit may have been passed by the other metrics alone.
            return TreeMerge(self.selection, self.view, self.group).sum(context, metric)
        tree, labelled = merged.tree, merged.tree.labelled
        shared = [
            k for k, each in enumerate(self.candidates) if each == metric or each in stats.shared
        ]
        metrics = tuple(self.candidates[k] for k in shared)
        if labelled:
            labelled = replace(labelled, values=labelled.values[shared])
        tree = replace(tree, metrics=metrics, self=tree.self[shared], labelled=labelled)
        return MergedTree(tree, merged.coverage)


def _merge(
    context: QueryContext,
    plan: Plan,
    metric: Metric,
    metrics: Sequence[Metric],
    group: Group,
    split_by: Grouping | None,
    stats: ScanStats | None = None,
) -> MergedTree:
    """Merge the planned profiles that have the metric, in `metrics`."""
    selection, by_function = plan.selection, group is Group.FUNCTION
    if split_by is not None:
        merge = SplitMerge(
            metrics,
            by_function,
            split_by.label,
            of_profiles=split_by.kind is not GroupKind.SAMPLE,
            samples=selection.samples,
            max_nodes=settings.MAX_QUERY_NODES,
            profile_type=selection.type,
            check=context.check,
        )
        coverage = _add_split(context, plan, metric, split_by, merge, stats)
        return MergedTree(merge.tree(), coverage)
    # Trees by function have no sample labels.
    by_function = by_function and not selection.samples
    most = settings.MAX_QUERY_NODES
    whole = Merge(metrics, by_function, most, selection.type, context.check)
    coverage = add_profiles(context, plan, metric, whole, stats)
    tree = whole.tree()
    if selection.samples:
        tree = select_samples(tree, selection.samples, context.check)
        if group is Group.FUNCTION:
            grouped = Merge(tree.metrics, True, most, check=context.check)
            grouped.add_tree(tree)
            tree = grouped.tree()
    return MergedTree(tree, coverage)


def _add_split(
    context: QueryContext,
    plan: Plan,
    metric: Metric,
    split_by: Grouping,
    merge: SplitMerge,
    stats: ScanStats | None,
) -> Coverage:
    """Add all planned profiles that have the metric, like `add_profiles`.

    Of a label of profiles, the heaviest values are kept apart; all others are one value, OTHER.
    """
    if split_by.kind is GroupKind.SAMPLE:
        return add_profiles(context, plan, metric, merge, stats)
    if isinstance(plan, SavedTreePlan):
        raise InvalidQuery(_("A snapshot can be split only by a label of its samples."))
    label = _label_of_profiles(context, plan, metric, split_by)
    stats = stats or ScanStats()
    with scan(context, plan, metric) as inputs:
        for each in inputs:
            for value, part in each.split_by_value(label):
                context.check()
                merge.value = value
                part.read_into(merge, stats)
    coverage = stats.coverage()
    require_64_bits(coverage.total)
    return coverage


@dataclass(frozen=True, slots=True)
class _LabelOfProfiles:
    """Label of profiles; implements ProfileLabel."""

    name: str  # "": the label is that of deployments
    of_deployment: Mapping[int, str]  # value by Deployment.pk
    heaviest: frozenset[str] | None = None  # None: all values

    def get_value(self, deployment: int, labels: Mapping[str, str]) -> str:
        value = labels.get(self.name, "") if self.name else self.of_deployment.get(deployment, "")
        return value if not value or self.heaviest is None or value in self.heaviest else OTHER


def _label_of_profiles(
    context: QueryContext, plan: QueryPlan, metric: Metric, split_by: Grouping
) -> _LabelOfProfiles:
    """Return the label with its heaviest values, which are found without reading call trees."""
    deployments = get_deployments(context) if split_by.kind is not GroupKind.LABEL else ()
    is_zone = split_by.kind is GroupKind.ZONE
    values = {
        each.pk: each.zone if is_zone else each.version
        for each in deployments
        if each.service == plan.selection.service
    }
    label = _LabelOfProfiles(split_by.name, values)
    if not split_by.name and len({*values.values()}) <= MAX_VALUES:
        return label
    totals: Counter[str] = Counter()
    with scan(context, plan, metric, Trees.NONE) as inputs:
        for each in inputs:
            for value, part in each.split_by_value(label):
                totals[value] += int(part.dimension(ScanStats()).total.sum())
    totals.pop("", None)
    heaviest = sorted(totals, key=lambda value: (-totals[value], value))[:MAX_VALUES]
    return replace(label, heaviest=frozenset(heaviest))
