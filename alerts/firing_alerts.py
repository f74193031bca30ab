"""Number of a project's alerts that fire, for the badge of the tabs."""

from functools import partial

from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from alerts.models import AlertIncident
from common.cache import Cache

# Changes by other processes go unnoticed for so long.
SECONDS_CACHED = 30.0
MOST_PROJECTS = 10_000


def count_firing(project: int) -> int:
    """Return the number of open incidents of a project (its pk); may block."""
    return _counts.get_or_load_blocking(project)


def _load(project: int) -> int:
    return AlertIncident.objects.filter(rule__project=project, ended=None).count()


_counts: Cache[int, int] = Cache(_load, size=MOST_PROJECTS, seconds=SECONDS_CACHED)


@receiver([post_save, post_delete], sender=AlertIncident)
def forget_count(sender: type[AlertIncident], instance: AlertIncident, **kwargs: object) -> None:
    transaction.on_commit(partial(_counts.delete, instance.rule.project_id))
