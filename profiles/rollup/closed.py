"""When an hour or a day is closed: nothing is on its way into it any more but what comes late."""

from datetime import UTC, datetime, timedelta

from projects.limits import limits_of

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# A name that was issued is good for an hour, and until then its upload may be sent again: what
# tells so is the row in the head.
NAMES_ARE_GOOD_FOR = timedelta(hours=1)
# Clocks of several machines, commits under way, uploads that are sent twice.
MARGIN = timedelta(minutes=10)
# The hours of a day are rolled up before the day is.
HOURS_FIRST = timedelta(minutes=10)


def hours_before(now: datetime) -> datetime:
    """Hours that end here or before are closed."""
    return hour_of(now - NAMES_ARE_GOOD_FOR - MARGIN)


def days_before(now: datetime) -> datetime:
    """Days that end here or before are closed, and their hours rolled up."""
    return day_of(now - NAMES_ARE_GOOD_FOR - MARGIN - HOURS_FIRST)


def hour_of(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def day_of(time: datetime) -> datetime:
    return hour_of(time).replace(hour=0)


def kept_since(project: int, now: datetime) -> datetime:
    """What is older is not kept, by the project's own days; a whole hour."""
    return hour_of(now - timedelta(days=limits_of(project).retention_days))
