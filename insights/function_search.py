"""Search for functions in the CPU profiles of all services: share, callers, trend and versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from profiles.query import (
    DeadlinePassed,
    FilterOption,
    FramePattern,
    Grouping,
    GroupKind,
    InvalidQuery,
    PatternCost,
    PatternCosts,
    ProfileSelection,
    QueryContext,
    View,
    ViewFilter,
    matcher,
    run_pattern_costs,
    run_series,
    run_services,
)
from projects.profile_types import ProfileType

_MOST_SERVICES = 50  # those with the most profiles
_MOST_VERSIONS = 20  # of a service, those with the greatest totals


@dataclass(frozen=True, slots=True)
class VersionCost:
    """Cost of the matching functions in one version."""

    version: str  # "" if agents report none
    share: float  # of all stacks of the version
    mean: float  # of one profile, in the unit of the metric
    profiles: int


@dataclass(frozen=True, slots=True)
class FoundFunctions:
    """Functions of one service that match, with what runs through them."""

    result: PatternCosts
    cost: PatternCost  # the row of the result
    steps: tuple[datetime, ...]  # starts
    shares: tuple[float | None, ...]  # of all stacks, by step; None without profiles
    versions: tuple[VersionCost, ...]  # that which appeared last first

    @property
    def service(self) -> str:
        return self.result.selection.service

    @property
    def share(self) -> float:
        return self.result.compute_share(self.cost)


@dataclass(frozen=True, slots=True)
class FunctionSearch:
    found: Sequence[FoundFunctions]  # by service, those with the most profiles first
    examined: int  # services with CPU profiles
    failures: Sequence[tuple[str, str]]  # (service, reason)
    is_late: bool  # the deadline passed before all services were examined


def search_functions(
    context: QueryContext, find: str, start: datetime, end: datetime
) -> FunctionSearch:
    """Find the services whose CPU profiles have functions that match a filter value.

    Raise BadFilterPattern if `find` is no valid expression.
    """
    matcher(find)
    pattern = FramePattern(find, or_files=True)
    found: list[FoundFunctions] = []
    failures: list[tuple[str, str]] = []
    examined, is_late = 0, False
    try:
        with context.snapshot:
            for service in _list_services(context, start, end):
                selection = ProfileSelection(context.project, service, ProfileType.CPU, start, end)
                try:
                    result = run_pattern_costs(context, selection, [pattern])
                    [cost] = result.rows
                    if cost.total:
                        found.append(_follow(context, result, cost, find))
                except InvalidQuery as error:
                    failures.append((service, str(error)))
                else:
                    examined += 1
    except DeadlinePassed:
        is_late = True
    return FunctionSearch(found, examined, failures, is_late)


def _list_services(context: QueryContext, start: datetime, end: datetime) -> list[str]:
    chosen = [
        row
        for row in run_services(context, start, end).rows
        if row.profiles and ProfileType.CPU in row.types and context.services.allows(row.service)
    ]
    chosen.sort(key=lambda row: (-row.profiles, row.service))
    return [row.service for row in chosen[:_MOST_SERVICES]]


def _follow(
    context: QueryContext, result: PatternCosts, cost: PatternCost, find: str
) -> FoundFunctions:
    """Add the course over the range, and the versions."""
    selection, by_version = result.selection, Grouping(GroupKind.VERSION)
    matching = View(filters=(ViewFilter(FilterOption.SHOW, find),))
    part = run_series(context, selection, matching, by_version, size=_MOST_VERSIONS)
    whole = run_series(context, selection, View(), by_version, size=_MOST_VERSIONS)
    totals = {each.value: each.total for each in part.values}
    versions = [
        VersionCost(
            version=each.value or "",
            share=totals.get(each.value, 0) / each.total,
            mean=totals.get(each.value, 0) / each.profiles,
            profiles=each.profiles,
        )
        for each in sorted(whole.values, key=lambda each: _find_first_step(each.totals))
        if each.total and each.profiles
    ]
    return FoundFunctions(
        result,
        cost,
        steps=tuple(step.start for step in whole.steps),
        shares=tuple(
            matched.total / step.total if step.total else None
            for matched, step in zip(part.steps, whole.steps, strict=True)
        ),
        versions=tuple(reversed(versions)),
    )


def _find_first_step(totals: Sequence[int]) -> int:
    return next((step for step, total in enumerate(totals) if total), len(totals))
