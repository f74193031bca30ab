"""Heads of an hour that has not ended, and their compaction at a given time."""

from datetime import datetime, timedelta

from profiles.compaction import level0
from profiles.compaction.windows import settled_before
from profiles.models import Profile
from profiles.storage import stored_bytes
from projects.models import DayUsage, Deployment, Project
from tests.profiles import rows

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
FEW = 3


def stored(of: Deployment, *minutes: float, **fields: object) -> None:
    for minute in minutes:
        rows.stored(of, minutes=minute, **fields)  # type: ignore[arg-type]
    all_came_at_noon()


def all_came_at_noon() -> None:
    """Set the arrival of all profiles to noon, and move the stored bytes to that day too."""
    all_came_at(rows.NOON)


def all_came_at(time: datetime) -> None:
    """Set the arrival of all rows, and move the stored bytes of all profiles to that day."""
    Profile.objects.update(stored_at=time)
    for other in DayUsage.objects.exclude(day=time.date()):
        size = {str(other.day): other.stored_bytes}
        stored_bytes.move(other.project_id, [{str(time.date()): other.stored_bytes}], [size])


def at(minutes: float) -> datetime:
    """Return the time at which profiles of `minutes` after noon have just settled."""
    return rows.NOON + (rows.NOON - settled_before(rows.NOON)) + minutes * MINUTE


def pack(project: Project, minutes: float) -> int:
    return level0.compact_long_heads(project.pk, at(minutes))
