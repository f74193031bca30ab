"""Usage of a project by day."""

from datetime import timedelta

from projects.models import DayUsage
from projects.usage.day_usage import utc_day

DAYS = 30


def load_history(project: int) -> list[DayUsage]:
    """Return a row for each of the last DAYS days (UTC), the oldest first; may block.

    A day without usage has a row of zeros, which is not stored.
    """
    first = utc_day() - timedelta(days=DAYS - 1)
    by_day = {row.day: row for row in DayUsage.objects.filter(project=project, day__gte=first)}
    days = [first + timedelta(days=offset) for offset in range(DAYS)]
    return [by_day.get(day) or DayUsage(project_id=project, day=day) for day in days]
