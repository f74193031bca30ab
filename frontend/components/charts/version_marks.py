"""Version marks on time axes: the time of each version's first profile."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from profiles.query import QueryContext, Selection, get_deployments, run_first_profiles

_MOST = 50  # marks per axis; the latest are shown
_LONGEST = 100  # characters of a version name


@dataclass(frozen=True, slots=True)
class VersionMark:
    version: str
    first: datetime


def list_range_releases(context: QueryContext, selection: Selection) -> list[VersionMark]:
    """Return the versions of the service whose first profile is within the range, by time."""
    inside = [
        each
        for each in list_releases(context, selection)
        if selection.start <= each.first <= selection.end
    ]
    return inside[-_MOST:]


def list_releases(context: QueryContext, selection: Selection) -> list[VersionMark]:
    """Return all versions of the service by the time of their first profile of the type."""
    first_profiles = run_first_profiles(context, selection.service, selection.type)
    firsts: dict[str, datetime] = {}
    for each in get_deployments(context):
        if each.pk in first_profiles and each.version:
            first = first_profiles[each.pk]
            firsts[each.version] = min(first, firsts.get(each.version, first))
    marks = [VersionMark(version, first) for version, first in firsts.items()]
    return sorted(marks, key=lambda each: (each.first, each.version))


def build_marks(releases: Sequence[VersionMark]) -> list[tuple[float, str]]:
    """Return marks as the charts expect them: Unix timestamp in seconds, truncated version name."""
    return [(each.first.timestamp(), each.version[:_LONGEST]) for each in releases]
