"""What is stored, and what is left of it when something breaks in between."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from profiles.rollup import due, parts
from projects.models import Deployment, Project
from tests.profiles import rows
from tests.profiles.rollup.long_heads import FEW


@pytest.fixture
def shop(project: Project) -> Deployment:
    return rows.deployment(project)


@pytest.fixture
def later() -> datetime:
    """When everything that was stored is long closed."""
    return max(rows.NOON, timezone.now()) + timedelta(days=3)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of so few a part is made."""
    for module in (due, parts):
        monkeypatch.setattr(module, "LONG", FEW)
    monkeypatch.setattr(parts, "LEFT", FEW - 1)
