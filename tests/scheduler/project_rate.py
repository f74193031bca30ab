"""Set what the schedule reads of a project."""

from common import database_pool
from projects.models import Project


async def set_rate(project: Project, rate: float) -> None:
    """In a thread whose connection is closed afterwards, which Django's `aupdate` keeps open."""
    rows = Project.objects.filter(pk=project.pk)
    await database_pool.run(rows.update, profiles_per_minute=rate)
