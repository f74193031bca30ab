"""The services of a project: what they run, and whether profiles come."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from django.db.models import Max, QuerySet

from profiles.models import Block, Level, Profile
from profiles.queries.answers import ServiceName, ServiceRow, ServicesResult
from profiles.queries.asked import check
from profiles.queries.block_counts import counts_by
from profiles.queries.known_deployments import deployments_of
from profiles.store.snapshot import snapshot
from projects.models import Deployment
from projects.profile_types import ProfileType

LATELY = timedelta(days=2)  # before the project's last block


def run_services(
    project: int, start: datetime, end: datetime, deadline: float | None = None
) -> ServicesResult:
    """Every service that has a deployment, by name; profiles are counted within the range."""
    with snapshot():
        counts = counts_by("service", project, start, end)
        check(deadline)
        deployments = _deployments(project)
        last = _last_profiles(project, set(deployments))
    check(deadline)
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


def run_service_names(project: int, deadline: float | None = None) -> tuple[ServiceName, ...]:
    """Every service that has a deployment, by name, in two statements."""
    with snapshot():
        profiled = _profiled(project)
        check(deadline)
        last = _last_of_each(project)
    return tuple(
        ServiceName(service, _in_order(profiled[service]), last.get(service))
        for service in sorted(profiled)
    )


def _profiled(project: int) -> dict[str, set[str]]:
    """By service: the types that it has profiles of."""
    found: dict[str, set[str]] = defaultdict(set)
    for deployment in deployments_of(project):
        found[deployment.service].update(deployment.profiled)
    return found


def _last_of_each(project: int) -> dict[str, datetime]:
    """By service. What a day covers it says itself."""
    head = Profile.objects.filter(project=project).order_by()
    blocks = Block.objects.filter(project=project, covered_by=None).order_by()
    rows = head.values_list("service").annotate(at=Max("time"))
    of_blocks = blocks.values_list("service").annotate(at=Max("last"))
    found: dict[str, datetime] = {}
    for service, at in rows.union(of_blocks, all=True):
        found[service] = max(at, found.get(service, at))
    return found


def _deployments(project: int) -> dict[str, list[Deployment]]:
    """By service, the newest first."""
    found = defaultdict(list)
    for deployment in deployments_of(project):
        found[deployment.service].append(deployment)
    return found


def _last_profiles(project: int, services: set[str]) -> dict[str, datetime]:
    """By service. Most have profiles in the newest blocks: so old ones are looked through only
    for services that have been quiet since."""
    rows = Profile.objects.filter(project=project, service__in=services).order_by()
    found = dict(rows.values_list("service").annotate(Max("time")))
    blocks = Block.objects.filter(project=project).order_by()
    # By level, as the index has them.
    each = (blocks.filter(level=level).order_by("-last") for level in Level.values)
    newest = [row.last for rows in each for row in rows.only("last")[:1]]
    if not newest:
        return found
    lately = _last(blocks.filter(level__in=Level.values, last__gte=max(newest) - LATELY))
    before = _last(blocks.filter(service__in=services - set(lately)))
    for service, last in {**before, **lately}.items():
        found[service] = max(last, found.get(service, last))
    return found


def _last(blocks: QuerySet[Block]) -> dict[str, datetime]:
    return dict(blocks.values_list("service").annotate(Max("last")))


def _types(deployments: list[Deployment]) -> tuple[ProfileType, ...]:
    return _in_order({name for deployment in deployments for name in deployment.profiled})


def _in_order(types: Collection[str]) -> tuple[ProfileType, ...]:
    """In the order in which types are listed everywhere."""
    return tuple(type_ for type_ in ProfileType if type_.value in types)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
