"""Merge of profiles that keeps the values of a label apart, for trees split by that label."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.conf import settings

from profiles.engine.calltree.split import MAX_VALUES, OTHER, SplitMerge, split
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_of
from profiles.queries.plan import QueryPlan
from profiles.queries.scan import Trees, add_profiles, explain_errors, require_64_bits, scan
from profiles.queries.selection import Group, Grouping, GroupKind, Selection


def split_merge(
    context: QueryContext,
    selection: Selection,
    by: Grouping,
    metrics: Sequence[Metric],
    group: Group,
) -> SplitMerge:
    """Return an empty accumulator of the selection's profiles, by the values of a label."""
    return SplitMerge(
        metrics,
        group is Group.FUNCTION,
        by.label,
        of_profiles=by.kind is not GroupKind.SAMPLE,
        samples=selection.samples,
        max_nodes=settings.MAX_QUERY_NODES,
        profile_type=selection.type,
        check=context.check,
    )


def reads_labels(by: Grouping | None) -> bool:
    """Return True if day blocks must have sums by label."""
    return by is not None and by.kind is GroupKind.LABEL


def add_split(
    context: QueryContext,
    plan: QueryPlan,
    metric: Metric,
    by: Grouping,
    merge: SplitMerge,
    stats: ScanStats | None = None,
) -> Coverage:
    """Add all planned profiles that have the metric, like `add_profiles`.

    Of a label of profiles, the heaviest values are kept apart; all others are one value, OTHER.
    """
    trees = Trees.FUNCTIONS if merge.by_function else Trees.WHOLE
    if by.kind is GroupKind.SAMPLE:
        return add_profiles(context, plan, metric, merge, trees=trees, stats=stats)
    label = _label_of_profiles(context, plan, metric, by)
    stats = stats or ScanStats()
    with scan(context, plan, metric, trees=trees) as inputs:
        for each in inputs:
            for value, part in each.by_value(label):
                context.check()
                merge.value = value
                part.add_to(merge, stats)
    coverage = stats.coverage()
    require_64_bits(coverage.total)
    return coverage


def split_by_label(context: QueryContext, tree: Tree, by: Grouping) -> Tree:
    """Give the values of a label roots of their own, in a tree that was merged with this split."""
    most = settings.MAX_QUERY_NODES
    with explain_errors():
        return split(tree, by.label, MAX_VALUES, most, context.check)


@dataclass(frozen=True, slots=True)
class _LabelOfProfiles:
    """Label of profiles; implements ProfileLabel."""

    name: str  # "": the label is that of deployments
    of_deployment: Mapping[int, str]  # value by Deployment.pk
    heaviest: frozenset[str] | None = None  # None: all values

    def value_of(self, deployment: int, labels: Mapping[str, str]) -> str:
        value = labels.get(self.name, "") if self.name else self.of_deployment.get(deployment, "")
        return value if not value or self.heaviest is None or value in self.heaviest else OTHER


def _label_of_profiles(
    context: QueryContext, plan: QueryPlan, metric: Metric, by: Grouping
) -> _LabelOfProfiles:
    """Return the label with its heaviest values, which are found without reading call trees."""
    deployments = deployments_of(context) if by.kind is not GroupKind.LABEL else ()
    is_zone = by.kind is GroupKind.ZONE
    values = {
        each.pk: each.zone if is_zone else each.version
        for each in deployments
        if each.service == plan.selection.service
    }
    label = _LabelOfProfiles(by.name, values)
    if not by.name and len({*values.values()}) <= MAX_VALUES:
        return label
    totals: Counter[str] = Counter()
    with scan(context, plan, metric, trees=Trees.NONE) as inputs:
        for each in inputs:
            for value, part in each.by_value(label):
                totals[value] += int(part.dimension(ScanStats()).total.sum())
    totals.pop("", None)
    heaviest = sorted(totals, key=lambda value: (-totals[value], value))[:MAX_VALUES]
    return replace(label, heaviest=frozenset(heaviest))
