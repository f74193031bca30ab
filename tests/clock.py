"""Settable clock behind `django.utils.timezone.now`."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, 20, tzinfo=UTC)
        monkeypatch.setattr(timezone, "now", lambda: self.now)

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)
