"""When an hour or a day is closed: nothing is on its way into it any more but what comes late."""

from datetime import UTC, datetime, timedelta

from django.conf import settings

from projects.usage.limits import limits_of

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# A name that was issued is good for an hour: what it was issued for may come until then.
NAMES_ARE_GOOD_FOR = timedelta(hours=1)
# Clocks of several machines, commits under way, uploads that are sent twice.
MARGIN = timedelta(minutes=10)
# The hours of a day are rolled up before the day is.
HOURS_FIRST = timedelta(minutes=10)
# From the end of a profile on, until its row may become a part of its hour; nothing leaves the
# head earlier.
SETTLED = timedelta(minutes=2)
# How far the clocks of two machines may differ until a profile is stored twice: one that took
# its row away and one that does not look for it in a block yet.
CLOCKS_DIFFER = timedelta(seconds=30)


def hours_before(now: datetime) -> datetime:
    """Hours that end here or before are closed."""
    return hour_of(now - MARGIN)


def days_before(now: datetime) -> datetime:
    """Days that end here or before are closed, and their hours rolled up."""
    return day_of(now - NAMES_ARE_GOOD_FOR - MARGIN - HOURS_FIRST)


def settled_before(now: datetime) -> datetime:
    """Profiles that began before are settled: hardly any of that time is still to come."""
    return now - timedelta(seconds=settings.CAPTURE_SECONDS) - SETTLED


def in_the_head_since(now: datetime) -> datetime:
    """Profiles that began here or later have not left the head."""
    return settled_before(now) + CLOCKS_DIFFER


def hour_of(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def day_of(time: datetime) -> datetime:
    return hour_of(time).replace(hour=0)


def kept_since(project: int, now: datetime) -> datetime:
    """What is older is not kept, by the project's own days; a whole hour."""
    return hour_of(now - timedelta(days=limits_of(project).retention_days))
