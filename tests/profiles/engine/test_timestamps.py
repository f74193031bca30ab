"""Conversion between datetimes and µs since 1970."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from profiles.engine.timestamps import micros, round_down, to_datetime

TIMESTAMPS = st.datetimes(timezones=st.just(UTC))
LATER = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC))
STEPS = st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=400))


@given(TIMESTAMPS)
def test_datetime_is_read_back_unchanged(time: datetime) -> None:
    assert to_datetime(micros(time)) == time


def test_micros_count_from_1970_utc() -> None:
    assert micros(datetime(1970, 1, 1, 0, 0, 1, 5, UTC)) == 1_000_005


@given(LATER, STEPS)
def test_a_step_begins_at_or_before_the_moment(time: datetime, step: timedelta) -> None:
    begin = round_down(time, step)
    assert begin <= time < begin + step
    assert micros(begin) % (step // timedelta(microseconds=1)) == 0
