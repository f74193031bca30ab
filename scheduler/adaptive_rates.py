"""Adaptive capture rates: as many profiles as detection needs, within bounds. Pure.

Rates are profiles per minute of a deployment and profile type.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from projects.profile_types import NEVER_REQUESTED, ProfileType
from scheduler.capture_requests import CaptureTarget, busy_seconds

# Captures of one deployment take at most this share of its agents' time, unless the project's own
# rate alone takes more.
MAX_BUSY = 0.5
_MINUTES_A_DAY = 1440

Rates = dict[tuple[int, ProfileType], float]  # by deployment and type


@dataclass(frozen=True, slots=True)
class AdaptiveProject:
    """Rate, needs and bounds of a project whose rates adapt."""

    rate: float  # of the project, which no deployment falls below
    services: Mapping[int, str]  # by deployment
    needs: Mapping[tuple[str, ProfileType], float]  # profiles a day, by service and type
    budget: float  # profiles a minute of the whole project


def compute_adaptive_rates(
    targets: Iterable[CaptureTarget], project: AdaptiveProject, capture_seconds: float
) -> Rates:
    """Return the rates of a project's deployments that are above its own rate.

    The deployments of a service share its need evenly.
    """
    if project.rate <= 0:
        return {}
    found = [target for target in targets if target.deployment in project.services]
    sharing: dict[tuple[str, ProfileType], int] = defaultdict(int)
    for target in found:
        for kind in _list_types(target):
            sharing[project.services[target.deployment], kind] += 1
    extra: Rates = {}
    for target in found:
        extra |= _find_extra(target, project, sharing, capture_seconds)
    fixed = project.rate * sum(sharing.values())
    scale = _fit(sum(extra.values()), project.budget - fixed)
    return {key: project.rate + rate * scale for key, rate in extra.items() if rate * scale > 0}


def _list_types(target: CaptureTarget) -> Iterator[ProfileType]:
    return iter(sorted(target.types - NEVER_REQUESTED))


def _find_extra(
    target: CaptureTarget,
    project: AdaptiveProject,
    sharing: Mapping[tuple[str, ProfileType], int],
    capture_seconds: float,
) -> Rates:
    """Return by how much the needs exceed the project's rate, as far as its agents have time."""
    extra: Rates = {}
    busy_fixed = busy_extra = 0.0
    for kind in _list_types(target):
        key = project.services[target.deployment], kind
        need = project.needs.get(key, 0.0) / _MINUTES_A_DAY / sharing[key]
        extra[target.deployment, kind] = max(0.0, need - project.rate)
        seconds = busy_seconds(kind, capture_seconds)
        busy_fixed += project.rate * seconds
        busy_extra += extra[target.deployment, kind] * seconds
    # A deployment's only agent is not parked while it captures.
    available = MAX_BUSY * 60 * max(target.agents, 1)
    scale = _fit(busy_extra, available - busy_fixed)
    return {key: rate * scale for key, rate in extra.items()}


def _fit(needed: float, available: float) -> float:
    """Return the factor that reduces what is needed to what is available, from 0 to 1."""
    return min(1.0, max(0.0, available) / needed) if needed > 0 else 1.0
