"""Compaction of days without regard to retention: rows.NOON passes, and tests stay."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from unittest.mock import patch

from profiles.compaction import plan
from profiles.compaction.compactor import Compactor


@contextmanager
def unlimited_retention() -> Iterator[None]:
    """Let days of any age get a level-2 block."""
    ever = datetime.min.replace(tzinfo=UTC)
    with patch.object(plan, "get_retention_start", return_value=ever):
        yield


def sum_days(project: int, now: datetime) -> int:
    """Build the level-2 blocks of days of any age, and return their number."""
    with unlimited_retention():
        return Compactor(project, now).build_level2()
