"""Versions on a time axis: when each was seen first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from profiles.query import Selection, deployments_of

_MOST = 50  # on one axis: the latest
_LONGEST = 100  # of a name


@dataclass(frozen=True, slots=True)
class VersionMark:
    version: str
    first: datetime


def releases_in(selection: Selection) -> list[VersionMark]:
    """Versions of the service that appeared within the range, by time."""
    firsts: dict[str, datetime] = {}
    for each in deployments_of(selection.project):  # the newest first
        if each.service == selection.service and each.version:
            firsts[each.version] = each.first_seen
    inside = [
        VersionMark(version, first)
        for version, first in firsts.items()
        if selection.start <= first <= selection.end
    ]
    return sorted(inside, key=lambda each: (each.first, each.version))[-_MOST:]


def marks_of(releases: Sequence[VersionMark]) -> list[tuple[float, str]]:
    """As the charts have them: seconds, and a name that is not too long."""
    return [(each.first.timestamp(), each.version[:_LONGEST]) for each in releases]
