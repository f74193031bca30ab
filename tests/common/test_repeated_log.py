"""Repeated log lines: once a minute, with a count."""

import logging

import pytest

from common import repeated_log
from common.repeated_log import PERIOD_SECONDS, RepeatedLog

log = logging.getLogger(__name__)


class MonotonicClock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_message_is_logged_once_a_minute_with_the_number_suppressed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = MonotonicClock()
    lines = RepeatedLog(clock)
    for number in range(5):
        lines.warn(log, "Redis failed: %s", number)
    clock.now += PERIOD_SECONDS
    lines.warn(log, "Redis failed: %s", 5)
    assert caplog.messages == [
        "Redis failed: 0",
        "Redis failed: 5 (and 4 more since the last such line)",
    ]


def test_an_error_takes_one_line(caplog: pytest.LogCaptureFixture) -> None:
    lines = RepeatedLog(MonotonicClock())
    lines.warn(log, "Failed: %s", OSError("connection refused\n\tIs the server running?"))
    lines.warn(log, "Failed again: %s", OSError())
    assert caplog.messages == ["Failed: connection refused", "Failed again: OSError"]


def test_different_messages_and_keys_are_logged_separately(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lines = RepeatedLog(MonotonicClock())
    lines.warn(log, "Rejected", key="one")
    lines.warn(log, "Rejected", key="two")
    lines.warn(log, "Stored")
    assert caplog.messages == ["Rejected", "Rejected", "Stored"]


def test_the_number_of_kinds_is_bounded(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated_log, "_MAX_KINDS", 3)
    lines = RepeatedLog(MonotonicClock())
    for number in range(100):
        lines.warn(log, "Rejected", key=f"{number}")
    assert len(caplog.messages) == 4
    assert len(lines._kinds) == 4
