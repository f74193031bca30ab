"""Set the rate of a project, which the scheduler reads."""

from common import database_pool
from projects.models import Project


async def set_rate(project: Project, rate: float) -> None:
    """Update the row in a pool thread, because Django's `aupdate` leaves its connection open."""
    rows = Project.objects.filter(pk=project.pk)
    await database_pool.run(rows.update, profiles_per_minute=rate)
