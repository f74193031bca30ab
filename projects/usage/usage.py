"""Usage of each of a project's limits, for the settings page and the admin."""

from dataclasses import dataclass

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from common.minute_counter import counter
from projects.models import DayRejections, DayUsage
from projects.usage import day_usage, quotas
from projects.usage.day_usage import seconds_to_midnight, utc_day
from projects.usage.limits import LimitName, get_limits
from projects.usage.quota_reached import QuotaReached, amount_text
from projects.usage.rejections import RejectionCount, RejectionReason, load_rejections

LABELS: dict[LimitName, Promise] = {
    LimitName.PROFILES_PER_MINUTE: _("Profiles per minute"),
    LimitName.PROFILES_PER_DAY: _("Profiles per day"),
    LimitName.NEW_DEPLOYMENTS_PER_DAY: _("New deployments per day"),
    LimitName.STORED_BYTES: _("Stored"),
    LimitName.BYTES_PER_PROFILE: _("Profile size"),
    LimitName.PARKED_HANDSHAKES: _("Waiting agents"),
    LimitName.RETENTION_DAYS: _("Retention"),
}


@dataclass(frozen=True, slots=True)
class LimitUsage:
    """One limit and its usage.

    `used` and `share` are None for limits on a size or an age, and for parked handshakes.
    """

    name: LimitName
    label: str
    allowed: int
    used: int | None
    resets_in: float | None  # seconds; None: never

    @property
    def share(self) -> float | None:
        """Return the used share, 0 to 1; a limit of 0 counts as fully used."""
        if self.used is None:
            return None
        return min(1.0, self.used / self.allowed) if self.allowed else 1.0

    @property
    def allowed_text(self) -> str:
        return amount_text(self.name, self.allowed)

    @property
    def used_text(self) -> str:
        return "" if self.used is None else amount_text(self.name, self.used)


@dataclass(frozen=True, slots=True)
class Usage:
    limits: tuple[LimitUsage, ...]
    rejected_today: int  # rejected profiles, and handshakes of deployments over the quota
    rejections: tuple[RejectionCount, ...]  # all kinds of requests


def load_usage(project: int) -> Usage:
    """Return the usage of a project (its pk) from the database; may block."""
    now = timezone.now()
    minute, seconds = divmod(now.timestamp(), 60)
    midnight = seconds_to_midnight(now)
    today = DayUsage.objects.filter(project=project, day=utc_day()).first() or DayUsage()
    used = {
        LimitName.PROFILES_PER_MINUTE: (counter().count(project, int(minute)), 60 - seconds),
        LimitName.PROFILES_PER_DAY: (today.profiles, midnight),
        LimitName.NEW_DEPLOYMENTS_PER_DAY: (today.new_deployments, midnight),
        LimitName.STORED_BYTES: (day_usage.read(project).stored_bytes, None),
    }
    limits = get_limits(project)
    rows = (
        LimitUsage(name, str(LABELS[name]), limits.get_limit(name), *used.get(name, (None, None)))
        for name in LimitName
    )
    return Usage(tuple(rows), today.rejected, load_rejections(project))


def list_reached(project: int) -> list[QuotaReached]:
    """Return the quotas that keep agents of a project (its pk) from reporting now; may block."""
    reached = []
    try:
        quotas.require_room_blocking(project)
    except QuotaReached as reason:
        reached.append(reason)
    allowed = get_limits(project).new_deployments_per_day
    rejected = DayRejections.objects.filter(
        project=project, day=utc_day(), reason=RejectionReason.NEW_DEPLOYMENTS
    )
    used = DayUsage.objects.filter(project=project, day=utc_day(), new_deployments__gte=allowed)
    if rejected.exists() and (not allowed or used.exists()):
        wait = seconds_to_midnight(timezone.now())
        reached.append(QuotaReached(LimitName.NEW_DEPLOYMENTS_PER_DAY, allowed, wait))
    return reached
