"""What is stored, and what is left of it when something breaks in between."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from projects.models import Deployment, Project
from tests.profiles import rows


@pytest.fixture
def shop(project: Project) -> Deployment:
    return rows.deployment(project)


@pytest.fixture
def later() -> datetime:
    """When everything that was stored is long closed."""
    return max(rows.NOON, timezone.now()) + timedelta(days=3)
