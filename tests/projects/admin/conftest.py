"""Operator fixtures: the user and a signed-in client."""

import pytest
from django.test import Client

from projects.models import User


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_superuser("operator@example.org", "a sentence works well")


@pytest.fixture
def admin(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client
