"""Fixtures for the tests of tenants."""

import pytest

from tests.clock import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a clock set to 12:00:20 UTC on 1 March 2026."""
    return Clock(monkeypatch)
