"""Number of a project's new regressions, for the badge that every page of the project shows."""

from functools import partial

from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from common.cache import Cache
from findings.models import Direction, Finding, FindingState

# Changes by other processes go unnoticed for so long. A page costs one statement a minute, else
# none.
SECONDS_CACHED = 60.0
MOST_PROJECTS = 10_000


def count_new(project: int) -> int:
    """Return the number of new regressions of a project (its pk); may block."""
    return _counts.get_or_load_blocking(project)


def _load(project: int) -> int:
    rows = Finding.objects.filter(project=project, state=FindingState.NEW)
    return rows.filter(direction=Direction.REGRESSION).count()


_counts: Cache[int, int] = Cache(_load, size=MOST_PROJECTS, seconds=SECONDS_CACHED)


@receiver([post_save, post_delete], sender=Finding)
def forget_count(sender: type[Finding], instance: Finding, **kwargs: object) -> None:
    transaction.on_commit(partial(_counts.delete, instance.project_id))
