"""Marks of a time axis: ticks at round times."""

from datetime import UTC, datetime, timedelta

import pytest

from frontend.pages.profiles.heat_map import time_marks

NOON = datetime(2026, 11, 20, 12, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "span",
    [timedelta(minutes=5), timedelta(hours=1), timedelta(days=1), timedelta(days=400)],
)
def test_axis_has_at_most_seven_marks_at_round_times(span: timedelta) -> None:
    found = time_marks(NOON - span, NOON)
    assert 1 <= len(found) <= 7
    assert all(NOON - span <= mark.time <= NOON for mark in found)
    assert all(mark.time.second in {0, 30} and mark.time.microsecond == 0 for mark in found)


def test_marks_of_several_days_are_dates() -> None:
    assert all(mark.days for mark in time_marks(NOON - timedelta(days=7), NOON))
    assert not any(mark.days for mark in time_marks(NOON - timedelta(hours=6), NOON))
