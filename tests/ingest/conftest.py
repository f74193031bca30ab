"""Fixtures of the endpoint tests: keys of two tenants, and a short poll timeout."""

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
    """Clear the long-poll queue around each test, and close the head thread's connection."""
    queue_of_process.cache_clear()
    yield
    queue_of_process.cache_clear()
    asyncio.run(head.stop())


@pytest.fixture
def key(project: Project) -> str:
    return keys.create(project, "agents")[1]


@pytest.fixture
def agent(project: Project, key: str) -> Client:
    """Return a client with a write key."""
    return Client(project.project_id, key)


@pytest.fixture
def reader(project: Project) -> Client:
    """Return a client with a read-only key."""
    return Client(project.project_id, keys.create(project, "eyes", write=False, read=True)[1])


@pytest.fixture
def other_project(charlie: User) -> Project:
    return create_project("Other Shop", charlie)


@pytest.fixture
def stranger(other_project: Project) -> Client:
    """Return a client with a key of another project that has every scope there."""
    return Client(other_project.project_id, keys.create(other_project, "all", read=True)[1])
