"""Fixtures of the doors' tests: keys of two tenants, and short waits."""

import asyncio
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from profiles.storage import head
from projects.credentials import keys
from projects.models import Project, User
from projects.project_ids import create_project
from scheduler.long_poll import queue_of_process
from tests.ingest.client import Client


@pytest.fixture(autouse=True)
def brief_waits(settings: Settings) -> None:
    settings.HOLD_SECONDS = 0.3


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No agent waits for the next test, and no connection of the head's thread stays open."""
    queue_of_process.cache_clear()
    yield
    queue_of_process.cache_clear()
    asyncio.run(head.stop())


@pytest.fixture
def key(project: Project) -> str:
    return keys.create(project, "agents")[1]


@pytest.fixture
def agent(project: Project, key: str) -> Client:
    """Holds a key that may write."""
    return Client(project.project_id, key)


@pytest.fixture
def reader(project: Project) -> Client:
    """Holds a key that may read only."""
    return Client(project.project_id, keys.create(project, "eyes", write=False, read=True)[1])


@pytest.fixture
def other_project(charlie: User) -> Project:
    return create_project("Other Shop", charlie)


@pytest.fixture
def stranger(other_project: Project) -> Client:
    """Holds a key of another project that may do everything there."""
    return Client(other_project.project_id, keys.create(other_project, "all", read=True)[1])
