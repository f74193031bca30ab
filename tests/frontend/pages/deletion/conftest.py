"""Fixtures of the tests of the deletion page."""

import pytest

from projects.models import Project, User
from projects.project_ids import create_project


@pytest.fixture
def shop_of_bob(db: None) -> Project:
    owner = User.objects.create_user("owner@example.com", "a sentence works well")
    return create_project("Other Shop", owner)
