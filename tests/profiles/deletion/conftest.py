"""Fixtures of the deletion tests."""

import pytest

from projects.models import Deployment, User
from projects.project_ids import create_project
from tests.profiles import rows


@pytest.fixture
def shop_of_bob(db: None) -> Deployment:
    """Return a deployment of a service with the same name in another project."""
    owner = User.objects.create_user("bob@example.com", "a sentence works well")
    return rows.deployment(create_project("Other Shop", owner))
