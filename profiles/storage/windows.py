"""Times at which profiles settle, hours and days close, and retention ends.

An hour or day is closed once only out-of-order profiles can still be added to it.
"""

from datetime import UTC, datetime, timedelta

from django.conf import settings

from projects.usage.limits import get_limits

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# Names of assigned profiles are valid for one hour: an upload may arrive until then.
NAME_LIFETIME = timedelta(hours=1)
# Allowance for clock skew, running commits and repeated uploads.
CLOSING_MARGIN = timedelta(minutes=10)
# Time for compacting the hours of a day before the day itself is rolled up.
HOUR_COMPACTION_TIME = timedelta(minutes=10)
# Minimum time from the end of a profile until its row may be compacted into a level-0 block; no
# profile leaves the head earlier.
SETTLING_TIME = timedelta(minutes=2)
# Maximum clock skew between the machine that compacts a profile and one that gets the profile
# again. With more, the second one might not yet look into blocks and would store it twice.
MAX_CLOCK_SKEW = timedelta(seconds=30)


def get_closed_hours_end(now: datetime) -> datetime:
    """Return the time up to which hours are closed: those that end then or earlier."""
    return hour_start(now - CLOSING_MARGIN)


def get_closed_days_end(now: datetime) -> datetime:
    """Return the time up to which days are closed and their hours compacted."""
    return day_start(now - NAME_LIFETIME - CLOSING_MARGIN - HOUR_COMPACTION_TIME)


def get_settled_end(now: datetime) -> datetime:
    """Return the time before which profiles are settled.

    Profiles that started earlier have almost all arrived.
    """
    return now - timedelta(seconds=settings.CAPTURE_SECONDS) - SETTLING_TIME


def get_head_only_start(now: datetime) -> datetime:
    """Return the earliest start time whose profiles are certainly still in the head."""
    return get_settled_end(now) + MAX_CLOCK_SKEW


def hour_start(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def day_start(time: datetime) -> datetime:
    return hour_start(time).replace(hour=0)


def get_retention_start(project: int, now: datetime) -> datetime:
    """Return the start of the project's retention period, a full hour."""
    return hour_start(now - timedelta(days=get_limits(project).retention_days))
