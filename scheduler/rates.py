"""Capture rates of projects, from the database or from a cache."""

from collections.abc import Iterable

from common.cache import Cache
from projects.models import Project

_MOST_PROJECTS = 10_000
_SECONDS_CACHED = 15.0


async def is_stopped(project: int) -> bool:
    """Return True if the project's capture rate is zero. The rate is cached for up to 15 s.

    Such a project gets only the capture requests that users create.
    """
    return await _rates.get_or_load(project) == 0


def get_rates(projects: Iterable[int]) -> dict[int, float]:
    """Read the capture rates from the database: profiles per minute, deployment and type. Blocking.

    Projects that do not exist are missing in the result.
    """
    rows = Project.objects.filter(pk__in=set(projects))
    return dict(rows.values_list("pk", "profiles_per_minute"))


def _load(project: int) -> float:
    return get_rates([project]).get(project, 0.0)


_rates: Cache[int, float] = Cache(_load, size=_MOST_PROJECTS, seconds=_SECONDS_CACHED)
forget = _rates.delete
