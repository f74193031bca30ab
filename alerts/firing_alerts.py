"""Number of a project's alerts that fire, for the badge of the tabs."""

from functools import partial

from django.db import transaction

from alerts.models import AlertIncident
from common.cache import Cache

# Changes by other processes go unnoticed for so long.
SECONDS_CACHED = 30.0
MOST_PROJECTS = 10_000


def count_firing(project: int) -> int:
    """Return the number of open incidents of a project (its pk); may block."""
    return _counts.get_or_load_blocking(project)


def forget_count(project: int) -> None:
    """Count again after the commit of the present transaction."""
    transaction.on_commit(partial(_counts.delete, project))


def _load(project: int) -> int:
    return AlertIncident.objects.filter(rule__project=project, ended=None).count()


_counts: Cache[int, int] = Cache(_load, size=MOST_PROJECTS, seconds=SECONDS_CACHED)
