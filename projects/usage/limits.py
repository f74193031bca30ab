"""Limits of a project: built-in values, overridden by the defaults, its plan and its own quota.

The retention is the project's own if that is shorter.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from django.db.models import OuterRef, Subquery
from django.db.models.functions import JSONObject

from common.cache import Cache
from projects.models import Plan, Project, Quota
from projects.models.quota import LimitFields

# Maximum delay until a change by another process takes effect; in this process it is immediate.
SECONDS_CACHED = 15.0
MOST_PROJECTS = 10_000


class LimitName(StrEnum):
    """Fields of a Quota; error messages name them."""

    PROFILES_PER_MINUTE = "profiles_per_minute"
    PROFILES_PER_DAY = "profiles_per_day"
    NEW_DEPLOYMENTS_PER_DAY = "new_deployments_per_day"
    STORED_BYTES = "stored_bytes"
    BYTES_PER_PROFILE = "bytes_per_profile"
    PARKED_HANDSHAKES = "parked_handshakes"
    RETENTION_DAYS = "retention_days"


@dataclass(frozen=True, slots=True)
class Limits:
    profiles_per_minute: int = 600
    profiles_per_day: int = 100_000
    new_deployments_per_day: int = 200
    stored_bytes: int = 20 * 10**9
    bytes_per_profile: int = 16 * 2**20
    parked_handshakes: int = 2000
    retention_days: int = 30

    def get_limit(self, name: LimitName) -> int:
        return int(getattr(self, name))


BUILT_IN = Limits()


def merge_quotas(rows: Iterable[LimitFields]) -> Limits:
    """Override the built-in limits by the fields of each row, in order.

    None overrides nothing; 0 is a valid limit.
    """
    values = asdict(BUILT_IN)
    for row in rows:
        own = {name: getattr(row, name) for name in LimitName}
        values |= {name: value for name, value in own.items() if value is not None}
    return Limits(**values)


@dataclass(frozen=True, slots=True)
class _LoadedLimits:
    quota: Limits  # that the operator has set
    effective: Limits


def get_limits(project: int) -> Limits:
    """Return the limits of a project (its pk); may block on the database."""
    return _limits.get_or_load_blocking(project).effective


def get_quota_limits(project: int) -> Limits:
    """Return the limits that the operator has set for a project (its pk); may block."""
    return _limits.get_or_load_blocking(project).quota


async def find_limits(project: int) -> Limits:
    """Return the limits of a project (its pk) asynchronously, without SQL if they are cached."""
    return (await _limits.get_or_load(project)).effective


def forget(project: int | None) -> None:
    """Drop cached limits after a change; None: of all projects, for the defaults and plans."""
    if project is None:
        _limits.clear()
    else:
        _limits.delete(project)


def _load(project: int) -> _LoadedLimits:
    """Read defaults, plan, quota and retention of a project by one statement."""
    columns = JSONObject(**{name.value: name.value for name in LimitName})
    defaults = Quota.objects.filter(project=None).values(columns=columns)[:1]
    plan = Plan.objects.filter(projects=OuterRef("pk")).values(columns=columns)[:1]
    own = Quota.objects.filter(project=OuterRef("pk")).values(columns=columns)[:1]
    rows = Project.objects.filter(pk=project).annotate(
        defaults=Subquery(defaults), plan_limits=Subquery(plan), own=Subquery(own)
    )
    values = rows.values_list("retention_days", "defaults", "plan_limits", "own").first()
    retention, *limits = values or (None,)
    quota = merge_quotas(Quota(**columns) for columns in limits if columns)
    if retention is None or retention >= quota.retention_days:
        return _LoadedLimits(quota, quota)
    return _LoadedLimits(quota, replace(quota, retention_days=retention))


def list_general_rows(project: int | None) -> list[LimitFields]:
    """Return the defaults and the plan of a project (its pk), as far as they exist."""
    rows: list[LimitFields] = [*Quota.objects.filter(project=None)]
    if project is not None:
        rows += Plan.objects.filter(projects=project)
    return rows


_limits: Cache[int, _LoadedLimits] = Cache(_load, size=MOST_PROJECTS, seconds=SECONDS_CACHED)
