"""Fixtures of the tenants' tests."""

import pytest

from tests.projects.clock import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """It is 12:00:20 UTC, the 1st of March 2026."""
    return Clock(monkeypatch)
