"""The services of a project: what they run, and whether profiles come."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from django.db.models import Max, Q

from profiles.models import Block, Level, Profile
from profiles.queries.answers import ServiceRow, ServicesResult
from profiles.queries.asked import check
from profiles.queries.block_counts import counts_by
from profiles.store.snapshot import snapshot
from projects.models import Deployment
from projects.profile_types import ProfileType


def run_services(
    project: int, start: datetime, end: datetime, deadline: float | None = None
) -> ServicesResult:
    """Every service that has a deployment, by name; profiles are counted within the range."""
    with snapshot():
        counts = counts_by("service", project, start, end)
        check(deadline)
        last = _last_profiles(project)
    check(deadline)
    deployments = _deployments(project)
    return ServicesResult(
        tuple(
            ServiceRow(
                service=service,
                types=_types(deployments[service]),
                versions=_distinct(d.version for d in deployments[service]),
                zones=tuple(sorted({d.zone for d in deployments[service]})),
                profiles=counts.get(service, 0),
                last_profile=last.get(service),
            )
            for service in sorted(deployments)
        )
    )


def _deployments(project: int) -> dict[str, list[Deployment]]:
    """By service, the newest first."""
    found = defaultdict(list)
    for deployment in Deployment.objects.filter(project=project).order_by("-first_seen", "-pk"):
        found[deployment.service].append(deployment)
    return found


def _last_profiles(project: int) -> dict[str, datetime]:
    rows = Profile.objects.filter(project=project).order_by()
    found = dict(rows.values_list("service").annotate(Max("time")))
    largest = Q(level=Level.DAY) | Q(level=Level.HOUR, covered_by=None)
    blocks = Block.objects.filter(largest, project=project).order_by()
    for service, last in blocks.values_list("service").annotate(Max("last")):
        found[service] = max(last, found.get(service, last))
    return found


def _types(deployments: list[Deployment]) -> tuple[ProfileType, ...]:
    """In the order in which types are listed everywhere."""
    profiled = {name for deployment in deployments for name in deployment.profiled}
    return tuple(type_ for type_ in ProfileType if type_.value in profiled)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
