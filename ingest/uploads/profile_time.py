"""When a profile was taken, and for how long; what senders claim is believed within reason."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from endpoints.errors import BadField
from profiles.models import TimeSource
from projects.profile_types import INSTANTANEOUS, ProfileType

AHEAD = timedelta(minutes=5)
LONGEST_NS = 24 * 3600 * 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Where a claimed time is beyond what a date can hold.
_FURTHEST_NS = 4 * 10**18


class ProfileTime(NamedTuple):
    time: datetime  # its start
    source: TimeSource
    duration_ns: int


def duration_ns(type: ProfileType, measured: int, said: int | None, asked: int = 0) -> int:
    """Return the first usable one of the profile's, its message's, and the scheduled duration.

    Some converters write a Unix time as `duration_nanos`, so a value that cannot be is ignored.
    BadField if none is usable.
    """
    if type in INSTANTANEOUS:
        return 0
    for claim in (measured, said or 0, asked):
        if 0 < claim <= LONGEST_NS:
            return claim
    given = "is not given" if said is None else f"is {said / 1e9:g} s"
    raise BadField(
        "duration",
        f"{given}, and duration_nanos of the profile is {measured}; one of them has to be from 1 "
        f'to {LONGEST_NS} ns (24 h). Set `duration` in the request, like "10s"',
    )


def started(
    claims: tuple[int | None, ...], now: datetime, retention: timedelta, duration: int
) -> ProfileTime:
    """The first claim (Unix time in ns) that is within retention and not ahead of the clock;
    without one it ended when it arrived."""
    for claim in claims:
        moment = _moment(claim or 0)
        if now - retention <= moment <= now + AHEAD:
            return ProfileTime(moment, TimeSource.PROFILE, duration)
    return ProfileTime(now - timedelta(microseconds=duration // 1000), TimeSource.ARRIVAL, duration)


def _moment(ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=min(ns, _FURTHEST_NS) // 1000)
