"""Fixture of the tests of Pyroscope's clients."""

import pytest

from tests.ingest.client import Client
from tests.ingest.pyroscope.client import PyroscopeClient


@pytest.fixture
def client(agent: Client) -> PyroscopeClient:
    """Return a client with a write key as password."""
    return PyroscopeClient(agent)
