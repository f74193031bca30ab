"""Paginated list of single profiles, the newest or the heaviest first."""

from collections.abc import Sequence

from django.db.models import Count, F, Max, Min, QuerySet, Sum

from profiles.models import Profile
from profiles.queries.planning.deployment_names import deployments
from profiles.queries.planning.plan import BlockPart, QueryPlan, plan_query
from profiles.queries.reports.profile_page import (
    ProfileEntry,
    mark_of,
    next_in_blocks,
    next_in_head,
    read_mark,
)
from profiles.queries.results import ProfileRow, ProfilesResult
from profiles.queries.scanning.scan_stats import ScanStats
from profiles.queries.selection import ProfileOrder, Selection, View, check, watched
from profiles.storage.block_summary import exact_sum
from profiles.storage.snapshot import snapshot
from profiles.timestamps import moment
from projects.models import Agent

PAGE = 100
MAX_PAGE = 1000
_HALF = 2**31


@watched
def run_profiles(
    selection: Selection,
    view: View | None = None,
    deadline: float | None = None,
    *,
    page: str = "",
    size: int = PAGE,
    order: ProfileOrder = ProfileOrder.NEWEST,
) -> ProfilesResult:
    """Return a page of matching profiles, and the coverage of all of them.

    `page` is the `next_page` of the previous page's result, empty for the first page. `size` is
    limited to 1 to MAX_PAGE. Raise InvalidQuery for a `page` that no list can have returned.
    """
    mark, size, used = read_mark(page), min(max(size, 1), MAX_PAGE), ScanStats()
    with snapshot():
        there = plan_query(selection, days=False, deadline=deadline)
        blocks = _counted(there, used)
        _count_head(there.head, used)
        check(deadline)
        found = next_in_head(there.head, order, mark, size + 1)
        found += next_in_blocks(blocks, order, mark, size + 1, used)
        shown = sorted(found, reverse=True)[: size + 1]
        rows = _rows(shown[:size])
    more = len(shown) > size
    next_page = mark_of(shown[size - 1].key) if more else None
    return ProfilesResult(selection, used.coverage(), rows, next_page)


def _counted(there: QueryPlan, used: ScanStats) -> list[BlockPart]:
    """Count the blocks' matching profiles in `used`, and return the readable inputs.

    The inputs are in descending order of their blocks' latest profiles.
    """
    parts = []
    for part, columns, meant in there.known(used):
        parts.append(part)
        time = columns.time[meant]
        used.take(
            profiles=len(meant),
            total=exact_sum(columns.weight[meant]),
            duration_ns=exact_sum(columns.duration_ns[meant]),
            first=moment(int(time.min())),
            last=moment(int(time.max())),
        )
    return sorted(parts, key=lambda part: part.opened.row.last, reverse=True)


def _count_head(rows: QuerySet[Profile], used: ScanStats) -> None:
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
        used.take(
            profiles=sums["pk__count"],
            total=sums["high"] * _HALF + sums["low"],
            duration_ns=sums["duration_ns__sum"],
            first=sums["time__min"],
            last=sums["time__max"],
        )


def _rows(found: Sequence[ProfileEntry]) -> tuple[ProfileRow, ...]:
    known = deployments(each.deployment for each in found)
    agents = Agent.objects.in_bulk({each.agent for each in found if each.agent is not None})
    return tuple(
        ProfileRow(
            name_id=each.name_id,
            time=each.time,
            duration_ns=each.duration_ns,
            # A deleted deployment has no zone and version any more.
            zone=known[each.deployment].zone if each.deployment in known else "",
            version=known[each.deployment].version if each.deployment in known else "",
            weight=each.weight,
            labels=each.labels,
            agent=str(agents.get(each.agent or 0, "")),
        )
        for each in found
    )
