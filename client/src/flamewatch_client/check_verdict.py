"""Judgement of a comparison of two versions: which functions got slower by more than a threshold.

The input is the document of the API's resource `compare`: the head is the selected side, the base
the baseline. docs/guide/ci.md describes the method.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from flamewatch_client.errors import RequestFailed
from flamewatch_client.student_t import (
    compute_half_width,
    compute_two_sided_p,
    find_degrees_of_freedom,
)

MIN_PROFILES = 8  # of each side; with fewer the server tests nothing
# Factor on p, the server's: costs of functions are skewed, and deviate from t.
_MARGIN = 1.5
_TEST = ("low", "high", "p")  # columns of the document
_MIN_FREEDOM = MIN_PROFILES - 1  # degrees of freedom of the server's tests, at least


class CheckOutcome(StrEnum):
    NO_REGRESSION = "no_regression"
    REGRESSION = "regression"
    TOO_FEW_PROFILES = "too_few_profiles"


class ChangeKind(StrEnum):
    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    ADDED = "added"  # the base has no value of the function
    REMOVED = "removed"  # the head has none


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """Limits of a check; percentages, except for the number of profiles."""

    threshold: float = 10.0  # of the cost of a function in the base
    total_threshold: float = 10.0  # of the total in the base
    min_share: float = 1.0  # of a function in the total, on either side
    false_alarms: float = 5.0  # of checks, at most
    min_profiles: int = MIN_PROFILES  # of each side
    fails_added: bool = False  # added functions fail the check, too
    value: str = "self"  # of functions: self or total


@dataclass(frozen=True, slots=True)
class ComparedCost:
    """Cost of a function, or of the whole, on both sides: means per profile."""

    name: str
    file: str
    base: float
    head: float
    low: float | None  # 95 % interval of head - base; None: not tested
    high: float | None
    p: float | None  # two-sided

    @property
    def difference(self) -> float:
        return self.head - self.base

    def to_percent(self, value: float | None) -> float | None:
        """Convert a value to percent of the base; None without a base."""
        return 100 * value / self.base if self.base and value is not None else None


@dataclass(frozen=True, slots=True)
class JudgedChange:
    kind: ChangeKind
    cost: ComparedCost


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    limits: CheckLimits
    base_profiles: int
    head_profiles: int
    total: ComparedCost
    total_kind: ChangeKind | None = None  # None: no change beyond its threshold
    changes: tuple[JudgedChange, ...] = ()  # of functions, the largest difference first
    judged: int = 0  # functions with the least share and an interval
    untested: int = 0  # functions with the least share and no interval
    undecided: int = 0  # judged functions of which a regression is neither shown nor ruled out

    @property
    def needed_profiles(self) -> int:
        return max(self.limits.min_profiles, MIN_PROFILES)

    @property
    def regressions(self) -> list[ComparedCost]:
        """Functions that fail the check."""
        failing = [ChangeKind.REGRESSION, *[ChangeKind.ADDED] * self.limits.fails_added]
        return [change.cost for change in self.changes if change.kind in failing]

    @property
    def outcome(self) -> CheckOutcome:
        if min(self.base_profiles, self.head_profiles) < self.needed_profiles:
            return CheckOutcome.TOO_FEW_PROFILES
        if self.regressions or self.total_kind is ChangeKind.REGRESSION:
            return CheckOutcome.REGRESSION
        return CheckOutcome.NO_REGRESSION

    def list_costs(self, kind: ChangeKind) -> list[ComparedCost]:
        return [change.cost for change in self.changes if change.kind is kind]


def judge_comparison(document: dict[str, Any], limits: CheckLimits) -> CheckVerdict:
    """Judge a comparison.

    Raise RequestFailed if the sides have enough profiles, but the server could not test them.
    """
    head_profiles, base_profiles = document["profiles"], document["b"]["profiles"]
    total = _read_total(document)
    verdict = CheckVerdict(limits, base_profiles, head_profiles, total)
    if verdict.outcome is CheckOutcome.TOO_FEW_PROFILES:
        return verdict
    if document["why_no_intervals"]:
        raise RequestFailed(document["why_no_intervals"])
    costs = [cost for cost in _read_functions(document, limits.value) if cost.base or cost.head]
    costs = [cost for cost in costs if _has_share(cost, total, limits.min_share)]
    tested = [cost for cost in costs if cost.p is not None]
    family = [*((cost, limits.threshold) for cost in tested), (total, limits.total_threshold)]
    kinds = _find_changes(family, base_profiles + head_profiles - 2, limits.false_alarms / 100)
    changes = [JudgedChange(kind, cost) for cost, kind in zip(tested, kinds, strict=False) if kind]
    return CheckVerdict(
        limits,
        base_profiles,
        head_profiles,
        total,
        kinds[-1],
        tuple(sorted(changes, key=lambda change: -abs(change.cost.difference))),
        len(tested),
        len(costs) - len(tested),
        sum(
            kind is None and _may_exceed(cost, limits.threshold)
            for cost, kind in zip(tested, kinds, strict=False)
        ),
    )


def _read_total(document: dict[str, Any]) -> ComparedCost:
    whole = document["whole"]
    return ComparedCost(
        "total",
        "",
        whole["b_total"] / max(document["b"]["profiles"], 1),
        whole["a_total"] / max(document["profiles"], 1),
        whole["low"],
        whole["high"],
        whole["p"],
    )


def _read_functions(document: dict[str, Any], value: str) -> list[ComparedCost]:
    functions, prefix = document["functions"], "self_" if value == "self" else ""
    head, base = document["profiles"], document["b"]["profiles"]
    names = ("name", "file", f"b_{value}", f"a_{value}", *(f"{prefix}{each}" for each in _TEST))
    return [
        ComparedCost(name, file, base_sum / base, head_sum / head, *test)
        for name, file, base_sum, head_sum, *test in zip(
            *(functions[name] for name in names), strict=True
        )
    ]


def _has_share(cost: ComparedCost, total: ComparedCost, percent: float) -> bool:
    """Return True if the cost has the share of the total on either side.

    The rule treats both sides alike: a share of one side alone would select the functions of which
    that side has more by chance.
    """
    return any(
        100 * own >= percent * whole
        for own, whole in ((cost.base, total.base), (cost.head, total.head))
        if own
    )


def _find_changes(
    family: Sequence[tuple[ComparedCost, float]], max_freedom: int, alpha: float
) -> list[ChangeKind | None]:
    """Return the change of each cost beyond its threshold in percent, None without one.

    Increases and decreases are a family of tests each.
    """
    slower = [_compute_p(cost, threshold, max_freedom, 1) for cost, threshold in family]
    faster = [_compute_p(cost, threshold, max_freedom, -1) for cost, threshold in family]
    return [
        _classify(cost, is_slower, is_faster)
        for (cost, _), is_slower, is_faster in zip(
            family, _reject(slower, alpha), _reject(faster, alpha), strict=True
        )
    ]


def _classify(cost: ComparedCost, is_slower: bool, is_faster: bool) -> ChangeKind | None:
    if is_slower:
        return ChangeKind.REGRESSION if cost.base else ChangeKind.ADDED
    if is_faster:
        return ChangeKind.IMPROVEMENT if cost.head else ChangeKind.REMOVED
    return None


def _compute_p(cost: ComparedCost, threshold: float, max_freedom: int, sign: int) -> float:
    """Return the one-sided p of a change by no more than the threshold; 1 if it is not small.

    The threshold is a part of the base, whose mean varies, too: for increases that widens the
    interval by at most this part. The tail follows from the interval and the p of the server.
    """
    if cost.p is None or cost.low is None or cost.high is None:
        return 1.0
    half, part = (cost.high - cost.low) / 2, threshold / 100
    beyond = sign * cost.difference - part * cost.base
    half *= 1 + part if sign > 0 else 1
    if beyond <= half:  # the interval includes the threshold
        return 1.0
    if half == 0:  # no profile differs from another
        return cost.p / 2
    ratio = sign * 2 * cost.difference / (cost.high - cost.low)
    freedom = find_degrees_of_freedom(ratio, cost.p, _MIN_FREEDOM, max_freedom)
    tail = compute_two_sided_p(beyond / half * compute_half_width(freedom), freedom)
    return max(tail, cost.p) / 2


def _reject(ps: Sequence[float], alpha: float) -> list[bool]:
    """Return which tests are significant by Holm's method: any false one has the chance `alpha`."""
    rejected = [False] * len(ps)
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        if _MARGIN * ps[index] * (len(ps) - rank) > alpha:
            break
        rejected[index] = True
    return rejected


def _may_exceed(cost: ComparedCost, threshold: float) -> bool:
    return cost.high is not None and cost.high > threshold / 100 * cost.base
