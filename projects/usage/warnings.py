"""Quotas of a project that are used to 80 % or more, for the banner of every page and e-mails."""

from dataclasses import dataclass

from django.db.models import Q, Sum

from common.cache import Cache
from projects.models import DayUsage
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName, get_limits

NEARLY_FULL = 0.8  # share of a quota
# A page costs one statement a minute and process, else none.
SECONDS_CACHED = 60.0
MOST_PROJECTS = 10_000


@dataclass(frozen=True, slots=True)
class QuotaWarning:
    limit: LimitName
    used: int
    allowed: int

    @property
    def is_full(self) -> bool:
        return self.used >= self.allowed


def get_warnings(project: int) -> tuple[QuotaWarning, ...]:
    """Return the quotas of a project (its pk) that are nearly full or full; may block."""
    return _warnings.get_or_load_blocking(project)


def load_warnings(project: int) -> tuple[QuotaWarning, ...]:
    """Return the same from the database as it is now."""
    today = Q(day=utc_day())
    sums = DayUsage.objects.filter(project=project).aggregate(
        profiles=Sum("profiles", filter=today, default=0),
        deployments=Sum("new_deployments", filter=today, default=0),
        stored=Sum("stored_bytes", default=0),
    )
    limits = get_limits(project)
    used = {
        LimitName.PROFILES_PER_DAY: sums["profiles"],
        LimitName.NEW_DEPLOYMENTS_PER_DAY: sums["deployments"],
        LimitName.STORED_BYTES: sums["stored"],
    }
    rows = (QuotaWarning(name, used[name], limits.get_limit(name)) for name in used)
    # Nothing is used of a quota of 0 that nobody tries to use.
    return tuple(row for row in rows if row.used and row.used >= NEARLY_FULL * row.allowed)


_warnings: Cache[int, tuple[QuotaWarning, ...]] = Cache(
    load_warnings, size=MOST_PROJECTS, seconds=SECONDS_CACHED
)
