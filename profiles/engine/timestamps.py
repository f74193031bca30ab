"""Conversion of datetimes to whole µs since 1970 and back, and rounding to steps."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(time: datetime) -> int:
    """Return the time in µs since 1970, rounded down."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def to_datetime(time: int) -> datetime:
    """Return the UTC datetime of a time in µs since 1970."""
    return _EPOCH + timedelta(microseconds=time)


def round_down(time: datetime, step: timedelta) -> datetime:
    """Round the time down to a multiple of `step` since 1970."""
    return _EPOCH + (time - _EPOCH) // step * step
