"""What uploads begin with."""

import pytest

from tests.ingest.client import Client


@pytest.fixture
def name(agent: Client) -> str:
    """A name that was issued for a CPU profile."""
    return str(agent.asked()["name"])
