"""Rules that a captured profile matches, with the totals of their frames."""

import gzip
from dataclasses import dataclass, replace

from insights.catalog import RULES
from profiles.engine.calltree.pattern_costs import pattern_costs
from profiles.engine.metrics import find_default
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class NoticedRules:
    totals: dict[str, int]  # by rule
    whole: int


def find_rules(raw: bytes, type_: ProfileType, duration_ns: int = 0) -> NoticedRules:
    """Examine a compressed profile; `duration_ns` is used instead of its duration."""
    decoded = decode_profile(gzip.decompress(raw), type_, DecodeLimits(max_total=2**62))
    index = find_default(type_, decoded.tree.metrics)
    tree = replace(
        decoded.tree,
        metrics=(decoded.tree.metrics[index],),
        self=decoded.tree.self[index : index + 1],
    )
    rules = [each for each in RULES if type_ in each.types]
    costs = pattern_costs(tree, [each.pattern for each in rules])
    whole = int(tree.self.sum())
    return NoticedRules(
        {
            each.id: cost.total
            for each, cost in zip(rules, costs, strict=True)
            if each.is_noticeable(cost.total, whole, duration_ns or decoded.duration_ns)
        },
        whole,
    )
