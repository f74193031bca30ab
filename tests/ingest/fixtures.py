"""Fixtures of tests that send requests as agents do."""

import asyncio
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from profiles.storage import head
from scheduler.long_poll import queue_of_process


@pytest.fixture(autouse=True)
def short_poll_timeout(settings: Settings) -> None:
    settings.POLL_TIMEOUT_SECONDS = 0.3


@pytest.fixture(autouse=True)
def empty_queue() -> Iterator[None]:
    """Clear the long-poll queue around each test, and close the head thread's connection."""
    queue_of_process.cache_clear()
    yield
    queue_of_process.cache_clear()
    asyncio.run(head.stop())
