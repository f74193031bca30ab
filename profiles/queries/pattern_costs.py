"""Query of the cost of frames that match patterns."""

from collections.abc import Sequence
from dataclasses import dataclass

from profiles.engine.calltree.pattern_costs import FramePattern, PatternCost, pattern_costs
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.queries.context import QueryContext
from profiles.queries.selection import Group, ProfileSelection, View
from profiles.queries.tree_merge import TreeMerge


@dataclass(frozen=True, slots=True)
class PatternCosts:
    """Costs of patterns, in their order, as sums over the matching profiles."""

    selection: ProfileSelection
    metric: Metric
    coverage: Coverage
    rows: tuple[PatternCost, ...]
    total: int  # Σ of all stacks

    def compute_share(self, cost: PatternCost) -> float:
        """Return the part of all stacks; 0 without any."""
        return cost.total / self.total if self.total else 0.0

    def compute_mean(self, cost: PatternCost) -> float:
        """Return the value of one profile, in the unit of the metric."""
        return cost.total / max(self.coverage.profiles, 1)

    def compute_cores(self, cost: PatternCost) -> float:
        """Return the cores of one agent, for CPU time; 0 for types without a duration."""
        duration = self.coverage.duration_ns
        return cost.total / duration if duration else 0.0


def run_pattern_costs(
    context: QueryContext, selection: ProfileSelection, patterns: Sequence[FramePattern]
) -> PatternCosts:
    """Merge a selection by function in its default metric, and sum what each pattern matches."""
    merged = TreeMerge(selection, View(), Group.FUNCTION).run(context)
    tree = merged.sum.tree
    rows = tuple(pattern_costs(tree, patterns, context.check))
    return PatternCosts(
        selection, merged.metric, merged.sum.coverage, rows, int(tree.self[0].sum())
    )
