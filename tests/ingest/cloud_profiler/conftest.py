"""Fixture for upload tests."""

import pytest

from tests.ingest.client import Client


@pytest.fixture
def name(agent: Client) -> str:
    """Return an issued name for a CPU profile."""
    return str(agent.captured_request()["name"])
