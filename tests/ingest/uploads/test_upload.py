"""Start time and duration of profiles."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from endpoints.errors import BadField
from ingest.uploads import upload
from profiles.models import TimeSource
from projects.profile_types import ProfileType

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MONTH = timedelta(days=30)
SECOND = 10**9


def ns(moment: datetime) -> int:
    return round(moment.timestamp()) * SECOND


@given(st.lists(st.integers(0, 2**63 - 1) | st.none(), max_size=3), st.integers(0, 86_400 * SECOND))
def test_start_is_within_retention_or_the_arrival(claims: list[int | None], duration: int) -> None:
    found = upload.choose_start(tuple(claims), NOW, MONTH, duration)
    if found.source is TimeSource.PROFILE:
        assert NOW - MONTH <= found.time <= NOW + upload.MAX_TIME_AHEAD
    else:
        assert found.time == NOW - timedelta(microseconds=duration // 1000)


def test_first_plausible_time_is_the_start() -> None:
    hour = NOW - timedelta(hours=1)
    found = upload.choose_start((0, None, 1, ns(hour), ns(NOW)), NOW, MONTH, SECOND)
    assert (found.time, found.source) == (hour, TimeSource.PROFILE)


def test_times_at_the_limits_are_accepted() -> None:
    for moment in (NOW - MONTH, NOW + timedelta(minutes=5)):
        assert upload.choose_start((ns(moment),), NOW, MONTH, SECOND).time == moment


def test_duration_is_measured_else_stated_else_requested() -> None:
    assert upload.choose_duration_ns(ProfileType.CPU, 3, 2, 1) == 3
    assert upload.choose_duration_ns(ProfileType.CPU, 0, 2, 1) == 2
    assert upload.choose_duration_ns(ProfileType.CPU, 0, None, 1) == 1


@pytest.mark.parametrize("type", [ProfileType.HEAP, ProfileType.THREADS, ProfileType.PEAK_HEAP])
def test_instantaneous_type_has_no_duration(type: ProfileType) -> None:
    assert upload.choose_duration_ns(type, 3, 2, 1) == 0


EPOCH_TIME = 1_700_000_000 * SECOND  # as JFR converters write it


@pytest.mark.parametrize("measured", [EPOCH_TIME, 86_400 * SECOND + 1, 0])
def test_impossible_measured_duration_is_replaced_by_the_stated_one(measured: int) -> None:
    assert upload.choose_duration_ns(ProfileType.CPU, measured, 10 * SECOND) == 10 * SECOND
    assert upload.choose_duration_ns(ProfileType.CPU, measured, 0, 7) == 7
    assert upload.choose_duration_ns(ProfileType.CPU, measured, EPOCH_TIME, 7) == 7


@pytest.mark.parametrize("measured", [0, 86_400 * SECOND + 1, EPOCH_TIME])
@pytest.mark.parametrize(
    ("said", "given"), [(None, "is not given"), (86_401 * SECOND, "is 86401 s")]
)
def test_an_impossible_duration_is_rejected(measured: int, said: int | None, given: str) -> None:
    with pytest.raises(BadField) as raised:
        upload.choose_duration_ns(ProfileType.CPU, measured, said)
    message = str(raised.value)
    assert f"duration: {given}, and duration_nanos of the profile is {measured};" in message
    assert "from 1 to 86400000000000 ns (24 h)" in message
