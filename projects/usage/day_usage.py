"""Usage of a project today, read from the database every 15 s and counted in memory meanwhile."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import Sum
from django.utils import timezone

from common.cache import Cache
from projects.models import DayUsage

# Profiles that other processes admit are counted after this delay; until then, a limit may be
# exceeded.
SECONDS_CACHED = 15.0
MOST_PROJECTS = 10_000


@dataclass(slots=True)
class UsageReading:
    """Usage as read from the database, plus what this process has admitted since."""

    day: date
    profiles: int  # of the day
    stored_bytes: int  # of all days


async def get_today(project: int) -> UsageReading:
    reading = await _readings.get_or_load(project)
    if reading.day == utc_day():
        return reading
    _readings.delete(project)
    return await _readings.get_or_load(project)


def get_today_blocking(project: int) -> UsageReading:
    reading = _readings.get_or_load_blocking(project)
    if reading.day == utc_day():
        return reading
    _readings.delete(project)
    return _readings.get_or_load_blocking(project)


def forget(project: int) -> None:
    _readings.delete(project)


def read(project: int) -> UsageReading:
    day = utc_day()
    rows = DayUsage.objects.filter(project=project)
    profiles = rows.filter(day=day).values_list("profiles", flat=True).first()
    stored = rows.aggregate(Sum("stored_bytes"))["stored_bytes__sum"]
    return UsageReading(day, profiles or 0, stored or 0)


def utc_day() -> date:
    return timezone.now().astimezone(UTC).date()


def seconds_to_midnight(now: datetime) -> float:
    now = now.astimezone(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return (midnight - now).total_seconds()


_readings: Cache[int, UsageReading] = Cache(read, size=MOST_PROJECTS, seconds=SECONDS_CACHED)
