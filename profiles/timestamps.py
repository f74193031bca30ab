"""Moments as blocks and pages of lists know them: whole µs since 1970, and in round steps."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(time: datetime) -> int:
    """µs since 1970, rounded down."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def moment(time: int) -> datetime:
    """The moment so many µs after 1970 began."""
    return _EPOCH + timedelta(microseconds=time)


def rounded_down(time: datetime, step: timedelta) -> datetime:
    """The last whole step since 1970 that is not after this."""
    return _EPOCH + (time - _EPOCH) // step * step
