"""Heads of an hour that has not ended, and their compaction at a given time."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from unittest.mock import patch

from profiles.compaction import pending_series, plan
from profiles.compaction.compactor import Compactor
from profiles.models import Profile
from profiles.storage import stored_bytes
from profiles.storage.windows import get_settled_end
from projects.models import DayUsage, Deployment, Project
from tests.profiles import rows

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
FEW = 3


@contextmanager
def lower_row_counts(open_hour: int, ended_hour: int) -> Iterator[None]:
    """Lower the numbers of rows from which level-0 blocks are built."""
    with (
        patch.object(pending_series, "MIN_ROWS_OPEN_HOUR", open_hour),
        patch.object(pending_series, "MIN_ROWS_ENDED_HOUR", ended_hour),
        patch.object(plan, "MIN_ROWS_OPEN_HOUR", open_hour),
        patch.object(plan, "MIN_ROWS_ENDED_HOUR", ended_hour),
    ):
        yield


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
    return rows.NOON + (rows.NOON - get_settled_end(rows.NOON)) + minutes * MINUTE


def pack(project: Project, minutes: float) -> int:
    return Compactor(project.pk, at(minutes)).build_level0()
