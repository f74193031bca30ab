"""The questions that are asked of the sets, with what they may take and what peers take."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from benchmarks.answered.sizes import START, Sizes

PEERS = "Pyroscope {}, Parca {}"


@dataclass(frozen=True, slots=True)
class Question:
    what: str
    path: str  # behind the project's
    limit: float | None = None  # ms
    aim: float | None = None
    peers: str = ""
    profiles: int | None = None  # that the answer has to be made of


def questions(sizes: Sizes) -> list[Question]:
    """Ranges begin and end within an hour, and within a day, so that finer blocks are read there
    too: those that peers are measured with begin where they like."""
    day, hour = timedelta(days=1), timedelta(hours=1)
    a_end = START + timedelta(days=sizes.a_days) - timedelta(hours=3, minutes=29)
    d_end = START + sizes.d_days * day - timedelta(hours=11, minutes=30)
    half = timedelta(seconds=15) * (sizes.pair // 2)
    flame = [
        ("250 of A", "a", a_end - half, a_end, 12, 5, ("24-31", "290-1,060"), 250),
        ("1,440 of A", "a", a_end - 6 * hour, a_end, 25, 10, ("69-83", "690-1,400"), 1440),
        ("5,760 of A", "a", a_end - day, a_end, 50, 20, ("167-240", "4,200"), 5760),
        ("43,200 of D (30 days)", "d", d_end - 30 * day, d_end, 60, 25, ("390-410", "5,570"), 0),
    ]
    found = [
        Question(
            f"flame graph, {what}",
            _path("tree", service, start, end),
            limit,
            aim,
            PEERS.format(*peers),
            (count or (sizes.d_days - 1) * 1440),
        )
        for what, service, start, end, limit, aim, peers, count in flame
    ]
    later = START + 2 * hour
    # As they are asked about when they are new, and with no roll-up at all.
    for where, kind, first in (("just in", "live", half), ("all in the head", "head", 0 * half)):
        found += [
            Question(
                f"flame graph, 250 of A, {where}",
                _path("tree", f"{kind}-a", START + first, START + first + half),
                40,
                15,
                profiles=sizes.pair // 2,
            ),
            Question(
                f"flame graph, {sizes.many:,} of D, {sizes.deployments} deployments, {where}",
                _path("tree", f"{kind}-d", START, later),
                300,
                100,
                profiles=sizes.many,
            ),
        ]
    for where, service, end in (
        ("in blocks", "a", a_end),
        ("just in", "live-a", START + 2 * half),
        ("all in the head", "head-a", START + 2 * half),
    ):
        other = {"b.from": _text(end - half), "b.to": _text(end)}
        found.append(
            Question(
                f"comparison, 250 and 250 of A, {where}",
                _path("compare", service, end - 2 * half, end - half, **other),
                40,
                20,
                PEERS.format("49", "499") + " (without intervals)",
                sizes.pair // 2,
            )
        )
    found.append(
        Question(
            "history of 5 functions, 30 days of D",
            _path("history", "d", d_end - 30 * day, d_end),
            40,
            15,
            PEERS.format("57", "1,914"),
            (sizes.d_days - 1) * 1440,
        )
    )
    return found


def _path(resource: str, service: str, start: datetime, end: datetime, **more: str) -> str:
    asked = {"service": service, "type": "CPU", "from": _text(start), "to": _text(end), **more}
    return f"{resource}?{urlencode(asked)}"


def _text(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
