"""Start time and duration of a profile, from range-checked claims of its sender."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from endpoints.errors import BadField
from profiles.models import TimeSource
from projects.profile_types import INSTANTANEOUS, ProfileType

AHEAD = timedelta(minutes=5)
LONGEST_NS = 24 * 3600 * 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Upper bound of claimed times, Unix time in ns (the year 2096), to keep datetime arithmetic in
# range.
_FURTHEST_NS = 4 * 10**18


class ProfileTime(NamedTuple):
    time: datetime  # start of the profile
    source: TimeSource
    duration_ns: int


def duration_ns(type: ProfileType, measured: int, stated: int | None, requested: int = 0) -> int:
    """Return the duration of a profile in ns: the first usable of the three values.

    `measured` is from the profile, `stated` from its message, `requested` from the capture request.
    Only values from 1 ns to 24 h are usable: some converters write a Unix time as `duration_nanos`.
    Instantaneous types have the duration 0. Raise BadField if no value is usable.
    """
    if type in INSTANTANEOUS:
        return 0
    for claim in (measured, stated or 0, requested):
        if 0 < claim <= LONGEST_NS:
            return claim
    given = "is not given" if stated is None else f"is {stated / 1e9:g} s"
    raise BadField(
        "duration",
        f"{given}, and duration_nanos of the profile is {measured}; one of them must be from 1 "
        f'to {LONGEST_NS} ns (24 h). Set `duration` in the request, like "10s"',
    )


def started(
    claims: tuple[int | None, ...], now: datetime, retention: timedelta, duration: int
) -> ProfileTime:
    """Return the first claimed start (Unix time in ns) that is plausible.

    A plausible claim is within `retention` and at most 5 minutes ahead of `now`. Without one,
    assume that the profile ended at `now`.
    """
    for claim in claims:
        start = _from_ns(claim or 0)
        if now - retention <= start <= now + AHEAD:
            return ProfileTime(start, TimeSource.PROFILE, duration)
    return ProfileTime(now - timedelta(microseconds=duration // 1000), TimeSource.ARRIVAL, duration)


def _from_ns(ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=min(ns, _FURTHEST_NS) // 1000)
