"""Enforce a project's quotas on uploads; admins set the quotas."""

from dataclasses import dataclass

from django.utils import timezone

from common.minute_counter import counter
from projects.usage import day_usage, rejections
from projects.usage.day_usage import UsageReading, seconds_to_midnight
from projects.usage.limits import LimitName, Limits, find_limits, get_limits
from projects.usage.quota_reached import QuotaReached

__all__ = [
    "Admission",
    "LimitName",
    "Limits",
    "QuotaReached",
    "admit_profile",
    "get_limits",
    "release",
    "require_bytes",
    "require_room",
    "require_room_blocking",
]


@dataclass(frozen=True, slots=True)
class Admission:
    """Counters that an admitted profile has changed, so that `release` can revert them."""

    project: int
    size: int
    minute: int
    reading: UsageReading


async def admit_profile(project: int, size: int) -> Admission:
    """Count one profile of `size` bytes, as sent, against the project's quotas.

    Raise QuotaReached, and count the rejection. No SQL query if the project is cached.
    """
    try:
        return await _admit(project, size)
    except QuotaReached as reached:
        rejections.note(project, rejections.OF_QUOTA[reached.limit])
        raise


async def require_room(project: int) -> None:
    """Raise QuotaReached if every profile would be rejected until midnight UTC.

    A capture would then cost a program CPU time for nothing. Counts neither a profile nor a
    rejection.
    """
    check(await find_limits(project), await day_usage.get_today(project), 1)


def require_bytes(project: int, size: int) -> None:
    """Raise QuotaReached if the project may not store `size` more bytes; may block."""
    allowed = get_limits(project).stored_bytes
    if day_usage.read(project).stored_bytes + size > allowed:
        raise QuotaReached(LimitName.STORED_BYTES, allowed, _to_midnight())


def require_room_blocking(project: int) -> None:
    """Do the same as `require_room`; may block on the database."""
    check(get_limits(project), day_usage.get_today_blocking(project), 1)


async def release(admission: Admission) -> None:
    """Revert the counts of an upload that failed, or was a duplicate, after it was admitted."""
    admission.reading.profiles -= 1
    admission.reading.stored_bytes -= admission.size
    await counter().decrement(admission.project, admission.minute)


async def _admit(project: int, size: int) -> Admission:
    limits = await find_limits(project)
    reading = await day_usage.get_today(project)
    minute, seconds = divmod(timezone.now().timestamp(), 60)
    check(limits, reading, size)
    # Count before the await, so that concurrent uploads see it.
    reading.profiles += 1
    reading.stored_bytes += size
    admission = Admission(project, size, int(minute), reading)
    if not await counter().increment(project, int(minute), limits.profiles_per_minute):
        reading.profiles -= 1
        reading.stored_bytes -= size
        allowed = limits.profiles_per_minute
        raise QuotaReached(LimitName.PROFILES_PER_MINUTE, allowed, 60 - seconds)
    return admission


def check(limits: Limits, reading: UsageReading, size: int) -> None:
    """Raise QuotaReached if one more profile of this size exceeds a limit."""
    if size > limits.bytes_per_profile:
        raise QuotaReached(LimitName.BYTES_PER_PROFILE, limits.bytes_per_profile, None)
    if reading.stored_bytes + size > limits.stored_bytes:
        raise QuotaReached(LimitName.STORED_BYTES, limits.stored_bytes, _to_midnight())
    if reading.profiles >= limits.profiles_per_day:
        raise QuotaReached(LimitName.PROFILES_PER_DAY, limits.profiles_per_day, _to_midnight())


def _to_midnight() -> float:
    return seconds_to_midnight(timezone.now())
