"""Fixtures of the compaction tests."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from profiles.compaction import level0, pending_series
from projects.models import Deployment, Project
from tests.profiles import rows
from tests.profiles.compaction.long_heads import FEW


@pytest.fixture
def shop(project: Project) -> Deployment:
    return rows.deployment(project)


@pytest.fixture
def later() -> datetime:
    """Return a time at which every stored hour and day is long closed."""
    return max(rows.NOON, timezone.now()) + timedelta(days=3)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the row counts from which level 0 blocks are built."""
    for module in (pending_series, level0):
        monkeypatch.setattr(module, "LONG", FEW)
        monkeypatch.setattr(module, "LEFT", FEW - 1)
