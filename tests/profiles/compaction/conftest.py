"""Fixtures of the compaction tests."""

from collections.abc import Iterator
from datetime import datetime

import pytest

from projects.models import Deployment, Project
from tests.profiles import rows
from tests.profiles.compaction.long_heads import FEW, lower_row_counts
from tests.profiles.compaction.unlimited_retention import unlimited_retention


@pytest.fixture
def shop(project: Project) -> Deployment:
    return rows.deployment(project)


@pytest.fixture
def later() -> Iterator[datetime]:
    """Return a time at which every stored hour and day is long closed, and none is too old."""
    with unlimited_retention():
        yield rows.days_later(3)


@pytest.fixture
def few() -> Iterator[None]:
    """Lower the row counts from which level 0 blocks are built."""
    with lower_row_counts(FEW, FEW - 1):
        yield
