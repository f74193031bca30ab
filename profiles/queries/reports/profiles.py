"""Paginated list of single profiles, the newest or the heaviest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Max, Min, QuerySet, Sum

from profiles.engine.blocks.sparse_values import exact_sum
from profiles.engine.coverage import Coverage, ScanStats
from profiles.engine.timestamps import to_datetime
from profiles.models import Profile
from profiles.queries.context import QueryContext
from profiles.queries.deployments import deployments_by_pk
from profiles.queries.plan import ReadOptions, plan_query
from profiles.queries.reports.profile_page import (
    ProfileEntry,
    format_mark,
    next_in_blocks,
    next_in_head,
    read_mark,
)
from profiles.queries.scan import open_plan
from profiles.queries.scan_input import BlockInput, profile_facts
from profiles.queries.selection import ProfileOrder, ProfileSelection
from projects.models import Agent

PAGE = 100
MAX_PAGE = 1000
_HALF = 2**31


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """Profile in a list; `zone` and `version` are empty if its deployment has been deleted."""

    name_id: str
    time: datetime
    duration_ns: int
    zone: str
    version: str
    weight: int
    labels: dict[str, str]
    agent: str


@dataclass(frozen=True, slots=True)
class ProfilesResult:
    """Page of a list of profiles."""

    selection: ProfileSelection
    coverage: Coverage  # of all pages
    rows: tuple[ProfileRow, ...]
    next_page: str | None  # parameter `page` of the next page; None on the last one


def run_profiles(
    context: QueryContext,
    selection: ProfileSelection,
    *,
    page: str = "",
    size: int = PAGE,
    order: ProfileOrder = ProfileOrder.NEWEST,
) -> ProfilesResult:
    """Return a page of matching profiles, and the coverage of all of them.

    `page` is the `next_page` of the previous page's result, empty for the first page. `size` is
    limited to 1 to MAX_PAGE. Raise InvalidQuery for a `page` that no list can have returned.
    """
    stats = ScanStats()
    mark, size = read_mark(page), min(max(size, 1), MAX_PAGE)
    with context.snapshot:
        head, inputs = open_plan(
            context, plan_query(context, selection, ReadOptions(day_blocks=False))
        )
        blocks = _count_blocks(context, inputs, stats)
        _count_head(head, stats)
        context.check()
        entries = next_in_head(head, order, mark, size + 1)
        entries += next_in_blocks(context, blocks, order, mark, size + 1)
        entries = sorted(entries, reverse=True)[: size + 1]
        rows = _rows(context, entries[:size])
    next_page = format_mark(entries[size - 1].key) if len(entries) > size else None
    return ProfilesResult(selection, stats.coverage(), rows, next_page)


def _count_blocks(
    context: QueryContext, inputs: Iterator[BlockInput], stats: ScanStats
) -> list[BlockInput]:
    """Count the blocks' matching profiles, and return the readable inputs.

    The inputs are in descending order of their blocks' latest profiles.
    """
    readable = []
    for each, columns, matching in profile_facts(context, inputs, stats):
        readable.append(each)
        time = columns.time[matching]
        stats.take(
            profiles=len(matching),
            total=exact_sum(columns.weight[matching]),
            duration_ns=exact_sum(columns.duration_ns[matching]),
            first=to_datetime(int(time.min())),
            last=to_datetime(int(time.max())),
        )
    return sorted(readable, key=lambda each: each.opened.row.last, reverse=True)


def _count_head(rows: QuerySet[Profile], stats: ScanStats) -> None:
    sums = rows.order_by().aggregate(
        Count("pk"),
        Sum("duration_ns"),
        Min("time"),
        Max("time"),
        # High and low halves apart, because SQLite raises an error for sums beyond 64 bits.
        high=Sum(F("weight") / _HALF),
        low=Sum(F("weight") % _HALF),
    )
    if sums["pk__count"]:
        stats.take(
            profiles=sums["pk__count"],
            total=sums["high"] * _HALF + sums["low"],
            duration_ns=sums["duration_ns__sum"],
            first=sums["time__min"],
            last=sums["time__max"],
        )


def _rows(context: QueryContext, entries: Sequence[ProfileEntry]) -> tuple[ProfileRow, ...]:
    by_pk = deployments_by_pk(context, (each.deployment for each in entries))
    agents = Agent.objects.in_bulk({each.agent for each in entries if each.agent is not None})
    return tuple(
        ProfileRow(
            name_id=each.name_id,
            time=each.time,
            duration_ns=each.duration_ns,
            # A deleted deployment has no zone and version any more.
            zone=by_pk[each.deployment].zone if each.deployment in by_pk else "",
            version=by_pk[each.deployment].version if each.deployment in by_pk else "",
            weight=each.weight,
            labels=each.labels,
            agent=str(agents.get(each.agent or 0, "")),
        )
        for each in entries
    )
