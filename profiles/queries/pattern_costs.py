"""Query of the cost of frames that match patterns."""

from collections.abc import Sequence
from dataclasses import dataclass

from profiles.engine.calltree.pattern_costs import FramePattern, PatternCost, pattern_costs
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.selection import Group, Selection, View
from profiles.queries.tree_merge import TreeMerge


@dataclass(frozen=True, slots=True)
class PatternCosts:
    """Costs of patterns, in their order, as sums over the matching profiles."""

    selection: Selection
    metric: Metric
    coverage: Coverage
    rows: tuple[PatternCost, ...]
    total: int  # Σ of all stacks


def run_pattern_costs(
    context: QueryContext, selection: Selection, patterns: Sequence[FramePattern]
) -> PatternCosts:
    """Merge a selection by function in its default metric, and sum what each pattern matches."""
    merged = TreeMerge(selection, View(), Group.FUNCTION).run(context)
    tree = merged.sum.tree
    rows = tuple(pattern_costs(tree, patterns, context.check))
    return PatternCosts(
        selection, merged.metric, merged.sum.coverage, rows, int(tree.self[0].sum())
    )
