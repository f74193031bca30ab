"""Queries to measure against the data sets, with latency limits and peers' figures."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from benchmarks.queries.latency.sizes import START, Sizes

PEERS = "Pyroscope {}, Parca {}"
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class MeasuredQuery:
    name: str
    path: str  # relative to the project's path
    limit: float | None = None  # ms
    aim: float | None = None
    peers: str = ""
    profiles: int | None = None  # expected number of profiles in the result


def queries(sizes: Sizes) -> list[MeasuredQuery]:
    """Return the queries, each with its limit.

    Time ranges start and end within an hour and within a day, so that queries also read blocks of
    finer levels. The ranges of queries that are compared with peers are arbitrary.
    """
    a_end = START + timedelta(days=sizes.a_days) - timedelta(hours=3, minutes=29)
    d_end = START + timedelta(days=sizes.d_days) - timedelta(hours=11, minutes=30)
    half = timedelta(seconds=15) * (sizes.pair // 2)
    return [
        *_flame_graphs(sizes, a_end, d_end, half),
        # Recent profiles are queried while some are still in the head; "head" has no compaction at
        # all.
        *_last_hour(sizes, "just in", "live", half, half),
        *_last_hour(sizes, "all in the head", "head", timedelta(0), half),
        _comparison(sizes, "in blocks", "a", a_end, half),
        _comparison(sizes, "just in", "live-a", START + 2 * half, half),
        _comparison(sizes, "all in the head", "head-a", START + 2 * half, half),
        MeasuredQuery(
            "history of 5 functions, 30 days of D",
            _path("history", "d", d_end - 30 * DAY, d_end),
            40,
            15,
            PEERS.format("57", "1,914"),
            (sizes.d_days - 1) * 1440,
        ),
        MeasuredQuery("insights, 1,440 of A", _path("insights", "a", a_end - 6 * HOUR, a_end)),
        MeasuredQuery("insights, 5,760 of A", _path("insights", "a", a_end - DAY, a_end)),
        # All services: A and D with their live and head ones; mallocgc is in those of A.
        _search("1 day", a_end - DAY, a_end),
        _search("30 days", d_end - 30 * DAY, d_end),
    ]


def _search(range: str, start: datetime, end: datetime) -> MeasuredQuery:
    params = {"find": "mallocgc", "from": _text(start), "to": _text(end)}
    return MeasuredQuery(f"function search, {range}", f"functions?{urlencode(params)}")


def _flame_graphs(
    sizes: Sizes, a_end: datetime, d_end: datetime, half: timedelta
) -> list[MeasuredQuery]:
    flame = [
        ("250 of A", "a", a_end - half, a_end, 12, 5, ("24-31", "290-1,060"), 250),
        ("1,440 of A", "a", a_end - 6 * HOUR, a_end, 25, 10, ("69-83", "690-1,400"), 1440),
        ("5,760 of A", "a", a_end - DAY, a_end, 50, 20, ("167-240", "4,200"), 5760),
        ("43,200 of D (30 days)", "d", d_end - 30 * DAY, d_end, 60, 25, ("390-410", "5,570"), 0),
    ]
    return [
        MeasuredQuery(
            f"flame graph, {name}",
            _path("tree", service, start, end),
            limit,
            aim,
            PEERS.format(*peers),
            (count or (sizes.d_days - 1) * 1440),
        )
        for name, service, start, end, limit, aim, peers, count in flame
    ]


def _last_hour(
    sizes: Sizes, where: str, kind: str, first: timedelta, half: timedelta
) -> list[MeasuredQuery]:
    return [
        MeasuredQuery(
            f"flame graph, 250 of A, {where}",
            _path("tree", f"{kind}-a", START + first, START + first + half),
            40,
            15,
            profiles=sizes.pair // 2,
        ),
        MeasuredQuery(
            f"flame graph, {sizes.many:,} of D, {sizes.deployments} deployments, {where}",
            _path("tree", f"{kind}-d", START, START + 2 * HOUR),
            300,
            100,
            profiles=sizes.many,
        ),
    ]


def _comparison(
    sizes: Sizes, where: str, service: str, end: datetime, half: timedelta
) -> MeasuredQuery:
    other = {"b.from": _text(end - half), "b.to": _text(end)}
    return MeasuredQuery(
        f"comparison, 250 and 250 of A, {where}",
        _path("compare", service, end - 2 * half, end - half, **other),
        40,
        20,
        PEERS.format("49", "499") + " (without intervals)",
        sizes.pair // 2,
    )


def _path(resource: str, service: str, start: datetime, end: datetime, **more: str) -> str:
    params = {"service": service, "type": "CPU", "from": _text(start), "to": _text(end), **more}
    return f"{resource}?{urlencode(params)}"


def _text(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
