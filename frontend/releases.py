"""Versions on a time axis: when each was seen first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min

from profiles.query import Selection
from projects.models import Deployment

_MOST = 50  # on one axis: the latest
_LONGEST = 100  # of a name


@dataclass(frozen=True, slots=True)
class Release:
    version: str
    first: datetime


def releases_in(selection: Selection) -> list[Release]:
    """Versions of the service that appeared within the range, by time."""
    known = Deployment.objects.filter(project=selection.project, service=selection.service)
    firsts = known.exclude(version="").values_list("version").annotate(first=Min("first_seen"))
    inside = firsts.filter(first__gte=selection.start, first__lte=selection.end)
    return [Release(*row) for row in reversed(inside.order_by("-first", "version")[:_MOST])]


def marks_of(releases: Sequence[Release]) -> list[tuple[float, str]]:
    """As the charts have them: seconds, and a name that is not too long."""
    return [(each.first.timestamp(), each.version[:_LONGEST]) for each in releases]
