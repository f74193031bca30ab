"""How often the projects want to be profiled, for code that may not ask the database each time."""

from collections.abc import Iterable

from common.loading_cache import LoadingCache
from projects.models import Project

_MOST_PROJECTS = 10_000
_SECONDS_KEPT = 15.0


async def is_stopped(project: int) -> bool:
    """Its rate is zero: nothing is captured unless a person asks. Up to 15 s old."""
    return await _rates.get(project) == 0


def rates_of(projects: Iterable[int]) -> dict[int, float]:
    """Profiles a minute, for each deployment and type, as the database has it now; blocking."""
    rows = Project.objects.filter(pk__in=set(projects))
    return dict(rows.values_list("pk", "profiles_per_minute"))


def _load(project: int) -> float:
    return rates_of([project]).get(project, 0.0)


_rates: LoadingCache[int, float] = LoadingCache(_load, size=_MOST_PROJECTS, seconds=_SECONDS_KEPT)
forget = _rates.forget
