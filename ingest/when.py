"""When a profile was taken, and for how long; what senders claim is believed within reason."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ingest.errors import BadField
from profiles.models import TimeSource
from projects.profile_types import INSTANTANEOUS, ProfileType

AHEAD = timedelta(minutes=5)
_LONGEST_NS = 24 * 3600 * 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Where a claimed time is beyond what a date can hold.
_FURTHEST_NS = 4 * 10**18


class When(NamedTuple):
    time: datetime  # its start
    source: TimeSource
    duration_ns: int


def duration_ns(type: ProfileType, measured: int, said: int | None, asked: int = 0) -> int:
    """What the profile measured, else what its message says, else what was asked for."""
    if type in INSTANTANEOUS:
        return 0
    found = measured or said or asked
    if not 0 < found <= _LONGEST_NS:
        raise BadField("duration", "has to be more than 0 s and at most a day")
    return found


def started(
    claims: tuple[int | None, ...], now: datetime, retention: timedelta, duration: int
) -> When:
    """The first claim (Unix time in ns) that is within retention and not ahead of the clock;
    without one it ended when it arrived."""
    for claim in claims:
        moment = _moment(claim or 0)
        if now - retention <= moment <= now + AHEAD:
            return When(moment, TimeSource.PROFILE, duration)
    return When(now - timedelta(microseconds=duration // 1000), TimeSource.ARRIVAL, duration)


def _moment(ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=min(ns, _FURTHEST_NS) // 1000)
