"""Selections shared by tests of queries."""

from datetime import timedelta

import pytest

from profiles.query import ProfileSelection
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles import rows


@pytest.fixture
def shop(project: Project) -> Deployment:
    return rows.deployment(project)


@pytest.fixture
def selection(project: Project) -> ProfileSelection:
    """Return the selection of the hour from noon."""
    end = rows.NOON + timedelta(hours=1)
    return ProfileSelection(project.pk, "shop", ProfileType.CPU, rows.NOON, end)
