"""Services of a project, with their types, versions, zones and latest profiles."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Count, Max, Q, QuerySet, Value, When

from profiles.models import Block, Profile, Resolution
from profiles.queries.context import QueryContext
from profiles.queries.deployments import get_deployments
from profiles.queries.reports.block_counts import counts_in_blocks
from projects.models import Deployment
from projects.profile_types import ProfileType

LATELY = timedelta(days=2)  # time before the project's latest profile in blocks


@dataclass(frozen=True, slots=True)
class ServiceRow:
    """Service in the list of a project's services."""

    service: str
    types: tuple[ProfileType, ...]
    versions: tuple[str, ...]  # newest first
    zones: tuple[str, ...]
    profiles: int  # in the range
    last_profile: datetime | None  # latest of all, not only in the range


@dataclass(frozen=True, slots=True)
class ServicesResult:
    rows: tuple[ServiceRow, ...]


@dataclass(frozen=True, slots=True)
class ServiceName:
    """Service as an entry of a menu."""

    service: str
    types: tuple[ProfileType, ...]
    last_seen: datetime  # latest of its deployments


@dataclass(frozen=True, slots=True)
class ServiceSearchResult:
    names: tuple[str, ...]  # at most as many as the query allows
    found: int  # all services that match


def run_services(context: QueryContext, start: datetime, end: datetime) -> ServicesResult:
    """List every service that has a deployment, by name, with its profiles in the range."""
    project = context.project
    with context.snapshot:
        counts, last = _count_head(project, start, end)
        counts.update(counts_in_blocks(project, start, end))
        context.check()
        deployments = _deployments(context)
        for service, time in _last_in_blocks(project, set(deployments)).items():
            last[service] = max(time, last.get(service, time))
    context.check()
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


def run_service_names(context: QueryContext) -> tuple[ServiceName, ...]:
    """List every service that has a deployment, by name, with one SQL statement."""
    deployments = _deployments(context)
    return tuple(
        ServiceName(service, _types(of_service), max(d.last_seen for d in of_service))
        for service, of_service in sorted(deployments.items())
    )


def run_service_search(
    context: QueryContext, words: Sequence[str], limit: int
) -> ServiceSearchResult:
    """Find the services whose names have all words, in any case.

    Those seen last come first, and those without a profile last. The database searches in the index
    of the project's deployments, and returns at most `limit` names.
    """
    matches = [Q(service__icontains=word) for word in words]
    rows = Deployment.objects.filter(*matches, project=context.project).order_by()
    with context.snapshot:
        services = rows.values("service").annotate(
            seen=Max("last_seen"),
            has_profiles=Max(Case(When(profiled=[], then=Value(0)), default=Value(1))),
        )
        ordered = services.order_by("-has_profiles", "-seen", "service")
        names = tuple(ordered.values_list("service", flat=True)[:limit])
        context.check()
        if len(names) < limit:
            return ServiceSearchResult(names, len(names))
        return ServiceSearchResult(names, rows.values("service").distinct().count())


def _deployments(context: QueryContext) -> dict[str, list[Deployment]]:
    """Return the project's deployments by service, the newest first."""
    by_service = defaultdict(list)
    for deployment in get_deployments(context):
        by_service[deployment.service].append(deployment)
    return by_service


def _count_head(
    project: int, start: datetime, end: datetime
) -> tuple[Counter[str], dict[str, datetime]]:
    """Return, by service, the number of head rows in the range and the time of the latest row."""
    counts, last = Counter[str](), {}
    rows = Profile.objects.filter(project=project).order_by().values_list("service")
    in_range = Count("pk", filter=Q(time__gte=start, time__lt=end))
    for service, count, time in rows.annotate(count=in_range, at=Max("time")):
        counts[service], last[service] = count, time
    return counts, last


def _last_in_blocks(project: int, services: set[str]) -> dict[str, datetime]:
    """Return the time of the latest profile in blocks by service.

    Most services have profiles in the newest blocks, so the statement over all blocks covers only
    services without a profile in the period LATELY before the latest profile.
    """
    blocks = Block.objects.filter(project=project).order_by()
    # Every day block has its hour blocks, so the latest profile is in an hour block.
    newest = blocks.filter(resolution=Resolution.PROFILE).order_by("-last").only("last").first()
    if newest is None:
        return {}
    lately = _last(blocks.filter(resolution__in=Resolution.values, last__gte=newest.last - LATELY))
    before = _last(blocks.filter(service__in=services - set(lately)))
    return {**before, **lately}


def _last(blocks: QuerySet[Block]) -> dict[str, datetime]:
    return dict(blocks.values_list("service").annotate(Max("last")))


def _types(deployments: list[Deployment]) -> tuple[ProfileType, ...]:
    return _sort_types({name for deployment in deployments for name in deployment.profiled})


def _sort_types(types: Collection[str]) -> tuple[ProfileType, ...]:
    """Sort types into the order of ProfileType, as in all lists of types."""
    return tuple(type_ for type_ in ProfileType if type_.value in types)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
