"""Capture rates of projects and of their services, from the database or from a cache."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.conf import settings
from django.db.models import Sum

from common.cache import Cache
from projects.models import DayUsage, Deployment, Project
from projects.profile_types import ProfileType
from projects.usage.limits import Limits, get_limits
from scheduler.adaptive_rates import AdaptiveProject, Rates, compute_adaptive_rates
from scheduler.capture_requests import CaptureTarget
from scheduler.models import SampleNeed

_MOST_PROJECTS = 10_000
_SECONDS_CACHED = 15.0
_QUOTA_SHARE = 0.5  # of a project's quotas that adaptive rates use at most
_MINUTES_A_DAY = 1440


async def is_stopped(project: int) -> bool:
    """Return True if the project's capture rate is zero. The rate is cached for up to 15 s.

    Such a project gets only the capture requests that users create.
    """
    return await _rates.get_or_load(project) == 0


def get_rates(projects: Iterable[int]) -> dict[int, float]:
    """Read the capture rates from the database: profiles per minute, deployment and type. Blocking.

    Projects that do not exist are missing in the result.
    """
    rows = Project.objects.filter(pk__in=set(projects))
    return dict(rows.values_list("pk", "profiles_per_minute"))


def get_adaptive_rates(targets: Sequence[CaptureTarget]) -> Rates:
    """Return the rates that exceed those of the projects, for projects with the setting. Blocking.

    Three statements for all such projects, and two for each; one if there are none.
    """
    by_project: dict[int, list[CaptureTarget]] = defaultdict(list)
    for target in targets:
        by_project[target.project].append(target)
    rows = Project.objects.filter(pk__in=by_project, adaptive_rate=True)
    own_rates = dict(rows.values_list("pk", "profiles_per_minute"))
    needs: dict[int, dict[tuple[str, ProfileType], float]] = defaultdict(dict)
    for need in SampleNeed.objects.filter(project__in=own_rates):
        needs[need.project_id][need.service, ProfileType(need.type)] = need.profiles_a_day
    services: dict[int, dict[int, str]] = defaultdict(dict)
    deployments = [target.deployment for target in targets if target.project in needs]
    for row in Deployment.objects.filter(pk__in=deployments).only("project_id", "service"):
        services[row.project_id][row.pk] = row.service
    rates: Rates = {}
    for project, found in needs.items():
        adaptive = AdaptiveProject(
            own_rates[project], services[project], found, _compute_budget(project)
        )
        rates |= compute_adaptive_rates(by_project[project], adaptive, settings.CAPTURE_SECONDS)
    return rates


def _compute_budget(project: int) -> float:
    """Return how many profiles a minute use the share of the quotas, for as long as they last."""
    limits: Limits = get_limits(project)
    sums = DayUsage.objects.filter(project=project).aggregate(
        profiles=Sum("profiles"), stored=Sum("stored_bytes")
    )
    budgets = [limits.profiles_per_minute, limits.profiles_per_day / _MINUTES_A_DAY]
    if sums["profiles"] and sums["stored"]:
        bytes_each = sums["stored"] / sums["profiles"]
        minutes = max(limits.retention_days, 1) * _MINUTES_A_DAY
        budgets.append(limits.stored_bytes / bytes_each / minutes)
    return _QUOTA_SHARE * min(budgets)


def _load(project: int) -> float:
    return get_rates([project]).get(project, 0.0)


_rates: Cache[int, float] = Cache(_load, size=_MOST_PROJECTS, seconds=_SECONDS_CACHED)
forget = _rates.delete
