"""Version marks on time axes: the time at which each version was first seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from profiles.query import QueryContext, Selection, deployments_of

_MOST = 50  # marks per axis; the latest are shown
_LONGEST = 100  # characters of a version name


@dataclass(frozen=True, slots=True)
class VersionMark:
    version: str
    first: datetime


def releases_in(context: QueryContext, selection: Selection) -> list[VersionMark]:
    """Return the versions of the service that first appeared within the range, by time."""
    inside = [
        each
        for each in releases_of(context, selection.service)
        if selection.start <= each.first <= selection.end
    ]
    return inside[-_MOST:]


def releases_of(context: QueryContext, service: str) -> list[VersionMark]:
    """Return all versions of a service by the time at which they first appeared."""
    firsts: dict[str, datetime] = {}
    # newest first, so that the oldest deployment wins
    for each in deployments_of(context):
        if each.service == service and each.version:
            firsts[each.version] = each.first_seen
    marks = [VersionMark(version, first) for version, first in firsts.items()]
    return sorted(marks, key=lambda each: (each.first, each.version))


def marks_of(releases: Sequence[VersionMark]) -> list[tuple[float, str]]:
    """Return marks as the charts expect them: Unix timestamp in seconds, truncated version name."""
    return [(each.first.timestamp(), each.version[:_LONGEST]) for each in releases]
