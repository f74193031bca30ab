"""Time strip: what its chart draws, and ticks at round times."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from frontend.components.time_strip import around, marks, steps, strip
from frontend.components.versions import VersionMark
from profiles.query import Metric, Selection, StripResult, StripStep
from projects.profile_types import ProfileType

NOON = datetime(2026, 11, 20, 12, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("span", "count"),
    [(timedelta(minutes=5), 10), (timedelta(hours=1), 60), (timedelta(days=30), 120)],
)
def test_a_bar_is_a_minute_where_that_is_neither_too_few_nor_too_many(
    span: timedelta, count: int
) -> None:
    assert steps(span) == count


@pytest.mark.parametrize(
    "span",
    [timedelta(minutes=5), timedelta(hours=1), timedelta(days=1), timedelta(days=400)],
)
def test_at_most_seven_round_moments_are_written(span: timedelta) -> None:
    found = marks(NOON - span, NOON)
    assert 1 <= len(found) <= 7
    assert all(NOON - span <= mark.time <= NOON for mark in found)
    assert all(mark.time.second in {0, 30} and mark.time.microsecond == 0 for mark in found)


def test_over_days_the_days_are_written() -> None:
    assert all(mark.days for mark in marks(NOON - timedelta(days=7), NOON))
    assert not any(mark.days for mark in marks(NOON - timedelta(hours=6), NOON))


def selection(start: datetime, end: datetime) -> Selection:
    return Selection(1, "shop", ProfileType.CPU, start, end)


def test_the_strip_goes_on_around_the_selected_range_but_not_beyond_now() -> None:
    hour = timedelta(hours=1)
    latest = around(selection(NOON - hour, NOON), NOON)
    assert (latest.start, latest.end) == (NOON - 7 * hour, NOON)
    heavy = around(replace(selection(NOON - hour, NOON), weight=10.0), NOON)
    assert heavy.weight is None
    past = around(selection(NOON - 10 * hour, NOON - 9 * hour), NOON)
    assert (past.start, past.end) == (NOON - 13 * hour, NOON - 6 * hour)


def test_the_chart_has_counts_weights_the_selected_range_and_releases() -> None:
    narrow = selection(NOON - timedelta(hours=1), NOON)
    wide = around(narrow, NOON)
    steps = tuple(StripStep(wide.start + i * timedelta(hours=1), i, 1.4 * i) for i in range(7))
    result = StripResult(wide, 3600, Metric("cpu", "nanoseconds"), steps)
    drawn = json.loads(strip(result, narrow, [VersionMark("2.31.0", NOON)]))
    assert drawn["counts"] == [0, 1, 2, 3, 4, 5, 6]
    assert drawn["means"] == [0, 1, 3, 4, 6, 7, 8]
    assert drawn["to"] - drawn["from"] == 7 * drawn["step"]
    assert drawn["selected"] == [drawn["to"] - drawn["step"], drawn["to"]]
    assert drawn["versions"] == [[NOON.timestamp(), "2.31.0"]]
