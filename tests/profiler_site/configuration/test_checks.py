"""System checks of settings that start, but serve nobody well."""

import pytest
from pytest_django import Settings

from profiler_site.configuration.checks import check_poll_timeout


@pytest.mark.parametrize(
    ("seconds", "warnings"),
    [(0.01, ["flamewatch.W004"]), (1, []), (50, []), (300, []), (301, ["flamewatch.W001"])],
)
def test_poll_timeout_that_is_too_short_or_too_long_is_warned_of(
    seconds: float, warnings: list[str], settings: Settings
) -> None:
    settings.POLL_TIMEOUT_SECONDS = seconds
    assert [str(message.id) for message in check_poll_timeout(None)] == warnings
