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
from projects.profile_types import ProfileType

RULES: tuple[WasteRule, ...] = (*python.RULES, *go.RULES, *java.RULES, *node.RULES)


@dataclass(frozen=True, slots=True)
class Insight:
    """WasteRule that matches the profiles of a service, with its part of their value."""

    rule: WasteRule
    service: str
    type: ProfileType
    share: float
    value: float  # of one profile, in `unit`
    unit: str
    part_of_duration: float  # of a profile: cores of one agent, for CPU time; 0 without duration
    evidence: PatternCost


def find_insights(context: QueryContext, selection: ProfileSelection) -> list[Insight]:
    """Return the rules that match a selection, those of the greatest share first."""
    rules = [rule for rule in RULES if selection.type in rule.types]
    if not rules:
        return []
    result = run_pattern_costs(context, selection, [rule.pattern for rule in rules])
    insights = [
        _build_insight(rule, selection, result, cost)
        for rule, cost in zip(rules, result.rows, strict=True)
        if result.total and cost.total >= rule.min_share * result.total
    ]
    return sorted(insights, key=lambda each: -each.share)


def _build_insight(
    rule: WasteRule, selection: ProfileSelection, result: PatternCosts, cost: PatternCost
) -> Insight:
    duration = result.coverage.duration_ns
    return Insight(
        rule,
        selection.service,
        selection.type,
        cost.total / result.total,
        cost.total / max(result.coverage.profiles, 1),
        result.metric.unit,
        cost.total / duration if duration else 0.0,
        cost,
    )
