"""All rules, and the insights of a selection of profiles."""

from dataclasses import dataclass

from insights.rule import WasteRule
from insights.rules import go, java, node, python
from profiles.query import (
    PatternCost,
    PatternCosts,
    ProfileSelection,
    QueryContext,
    run_pattern_costs,
)

RULES: tuple[WasteRule, ...] = (*python.RULES, *go.RULES, *java.RULES, *node.RULES)


@dataclass(frozen=True, slots=True)
class Insight:
    """Rule that matches the profiles of a service, with the cost of its frames."""

    rule: WasteRule
    result: PatternCosts
    evidence: PatternCost  # of the rows of the result

    @property
    def share(self) -> float:
        return self.result.compute_share(self.evidence)


def find_insights(context: QueryContext, selection: ProfileSelection) -> list[Insight]:
    """Return the rules that match a selection, those of the greatest share first."""
    rules = [rule for rule in RULES if selection.type in rule.types]
    if not rules:
        return []
    result = run_pattern_costs(context, selection, [rule.pattern for rule in rules])
    insights = [
        Insight(rule, result, cost)
        for rule, cost in zip(rules, result.rows, strict=True)
        if rule.is_noticeable(cost.total, result.total, result.coverage.duration_ns)
    ]
    return sorted(insights, key=lambda each: -each.share)
