"""Sparklines of many services, each for one profile type, with few SQL statements."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import NamedTuple

from django.db.models import Avg, Count, Q, TextField
from django.db.models.functions import Cast, Substr

from profiles.models import Block, Profile
from profiles.queries.context import QueryContext
from profiles.queries.reports.block_counts import CountedSpan, clip_steps, cut_off, whole
from projects.profile_types import ProfileType

_MIDNIGHT = "0000-00-00 00:00"


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Mean weights of a service and type over a range, in equal steps."""

    profiles: float  # fractional: a summary step that the range cuts counts proportionally
    weight: float  # Σ of the type's default metric
    duration_ns: float  # Σ
    steps: tuple[float | None, ...]  # mean weight of the step's profiles; None without any


class _Sum(NamedTuple):
    """Sums of a service's profiles in one time interval, computed by the database."""

    service: str
    span: CountedSpan
    duration_ns: float  # Σ


def run_sparklines(
    context: QueryContext,
    types: Mapping[str, ProfileType],
    start: datetime,
    end: datetime,
    steps: int = 32,
) -> dict[str, Sparkline]:
    """Return a sparkline by service, of the type in `types`; omit services without a profile."""
    project = context.project
    by_service: dict[str, list[_Sum]] = {}
    with context.snapshot:
        for each in (
            *_sum_head(project, types, start, end),
            *_sum_blocks(project, types, start, end),
        ):
            by_service.setdefault(each.service, []).append(each)
    context.check()
    return {service: _sparkline(sums, start, end, steps) for service, sums in by_service.items()}


def _sum_head(
    project: int, types: Mapping[str, ProfileType], start: datetime, end: datetime
) -> list[_Sum]:
    width, length = _prefix(end - start)
    rows = (
        Profile.objects.filter(_match_types(types), project=project, time__gte=start, time__lt=end)
        .order_by()
        # PostgreSQL and SQLite both format times as ISO 8601 text in UTC. Group by a prefix of
        # this text: Django's date functions on SQLite would call Python for every row.
        .annotate(prefix=Substr(Cast("time", TextField()), 1, width))
        .values_list("service", "prefix")
        .annotate(Count("pk"), Avg("weight"), Avg("duration_ns"))
    )
    sums = []
    for service, prefix, count, weight, duration in rows:
        prefix_start = _parse_prefix(prefix)
        span = CountedSpan(
            max(prefix_start, start).timestamp(),
            min(prefix_start + length, end).timestamp(),
            count,
            float(weight) * count,
        )
        sums.append(_Sum(service, span, float(duration) * count))
    return sums


def _sum_blocks(
    project: int, types: Mapping[str, ProfileType], start: datetime, end: datetime
) -> Iterator[_Sum]:
    """Yield sums from the summaries of blocks, in steps of 5 minutes or less (day blocks: 1 hour).

    A summary has Σ duration for the whole block only, so each step gets a share of it in
    proportion to the step's number of profiles.
    """
    in_range = whole(project, start, end) | cut_off(project, start, end)
    rows = Block.objects.filter(in_range, _match_types(types)).order_by()
    of_them = ("duration_ns", "course", "step")
    fields = ("service", "profiles", *(f"summary__{name}" for name in of_them))
    for service, profiles, duration, course, step in rows.values_list(*fields):
        for span in clip_steps(course, step, start, end):
            yield _Sum(service, span, duration * span.profiles / profiles)


def _match_types(types: Mapping[str, ProfileType]) -> Q:
    any_of = Q(pk__in=[])
    for type_ in set(types.values()):
        services = [
            service for service, type_of_service in types.items() if type_of_service is type_
        ]
        any_of |= Q(type=type_.value, service__in=services)
    return any_of


def _prefix(span: timedelta) -> tuple[int, timedelta]:
    """Return the length of the prefix of "2026-11-21 05:43" to group by, and its duration."""
    if span <= timedelta(hours=2):
        return 16, timedelta(minutes=1)
    if span <= timedelta(days=2):
        return 15, timedelta(minutes=10)
    return 13, timedelta(hours=1)


def _parse_prefix(prefix: str) -> datetime:
    return datetime.fromisoformat(prefix + _MIDNIGHT[len(prefix) :]).replace(tzinfo=UTC)


def _sparkline(sums: list[_Sum], start: datetime, end: datetime, steps: int) -> Sparkline:
    counts, weights = [0.0] * steps, [0.0] * steps
    begin, width = start.timestamp(), (end - start).total_seconds() / steps
    for span in (each.span for each in sums):
        first = min(int((span.start - begin) / width), steps - 1)
        behind = max(first + 1, min(ceil((span.end - begin) / width), steps))
        for step in range(first, behind):
            counts[step] += span.profiles / (behind - first)
            weights[step] += span.weight / (behind - first)
    return Sparkline(
        profiles=sum(each.span.profiles for each in sums),
        weight=sum(each.span.weight for each in sums),
        duration_ns=sum(each.duration_ns for each in sums),
        steps=tuple(
            weight / count if count else None for weight, count in zip(weights, counts, strict=True)
        ),
    )
