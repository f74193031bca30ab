"""Registration and listing of deployments; new ones are limited by the project's daily quota."""

from dataclasses import dataclass, field
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from common.cache import Cache
from common.write_behind import WriteBehindBuffer, split_batches
from projects.models import DayUsage, Deployment
from projects.profile_types import ProfileType
from projects.usage.day_usage import seconds_to_midnight, utc_day
from projects.usage.limits import LimitName, get_limits
from projects.usage.quota_reached import QuotaReached

MOST_DEPLOYMENTS = 50_000
# Time for which a project over its quota is rejected without an SQL query.
SECONDS_REJECTED = 15.0


@dataclass(frozen=True, slots=True)
class DeploymentKey:
    service: str
    zone: str = ""
    version: str = ""
    language: str = field(default="", compare=False)  # not part of the identity


@dataclass(slots=True)
class CachedDeployment:
    pk: int
    language: str
    profiled: frozenset[ProfileType]


@dataclass(frozen=True, slots=True)
class _DeploymentPosition:
    project: int
    key: DeploymentKey


@dataclass(frozen=True, slots=True)
class _DeploymentSighting:
    time: datetime
    position: _DeploymentPosition
    language: str | None  # the new language, if it changed


async def find(project: int, key: DeploymentKey) -> CachedDeployment:
    """Return the deployment, after inserting its row if it is new.

    Raise QuotaReached if the project may have no more new deployments today.
    """
    position = _DeploymentPosition(project, key)
    deployment = _deployments.get(position)
    if deployment is None:
        _raise_if_rejected(project)
        deployment = await _deployments.get_or_load(position)
    _note_seen(deployment, position)
    return deployment


def note_profiled(deployment_pk: int, type: ProfileType) -> None:
    """Record in the cache that the deployment has a profile of this type.

    The row is updated in the commit that stores the profile.
    """
    deployment = _by_pk.get(deployment_pk)
    if deployment:
        deployment.profiled |= {type}


def clear_rejections() -> None:
    """Drop cached rejections, because a quota has changed."""
    _rejected.clear()


def forget(row: Deployment) -> None:
    """Drop a deleted deployment from this process's cache; others drop it when they next see it."""
    key = DeploymentKey(row.service, row.zone, row.version)
    _deployments.delete(_DeploymentPosition(row.project_id, key))


def _note_seen(deployment: CachedDeployment, position: _DeploymentPosition) -> None:
    language = None
    if position.key.language not in ("", deployment.language):
        language = deployment.language = position.key.language
    _seen.note(deployment.pk, _DeploymentSighting(timezone.now(), position, language))


def _raise_if_rejected(project: int) -> None:
    allowed = _rejected.get(project)
    if allowed is not None:
        raise _too_many(allowed)


def _load(position: _DeploymentPosition) -> CachedDeployment:
    key = position.key
    identity = {"service": key.service, "zone": key.zone, "version": key.version}
    rows = Deployment.objects.filter(project=position.project, **identity)
    row = rows.first()
    if row is None:
        try:
            row = _add(position, identity)
        except IntegrityError:  # another process inserted it first
            row = rows.get()
    deployment = CachedDeployment(row.pk, row.language, _types(row.profiled))
    _by_pk.put(deployment.pk, deployment)
    return deployment


def _add(position: _DeploymentPosition, identity: dict[str, str]) -> Deployment:
    now = timezone.now()
    with transaction.atomic():
        _count_new(position.project)
        return Deployment.objects.create(
            project_id=position.project,
            language=position.key.language,
            first_seen=now,
            last_seen=now,
            **identity,
        )


def _count_new(project: int) -> None:
    allowed = get_limits(project).new_deployments_per_day
    row, _created = DayUsage.objects.get_or_create(project_id=project, day=utc_day())
    below_limit = DayUsage.objects.filter(pk=row.pk, new_deployments__lt=allowed)
    if not below_limit.update(new_deployments=F("new_deployments") + 1):
        _rejected.put(project, allowed)
        raise _too_many(allowed)


def _too_many(allowed: int) -> QuotaReached:
    wait = seconds_to_midnight(timezone.now())
    return QuotaReached(LimitName.NEW_DEPLOYMENTS_PER_DAY, allowed, wait)


def _types(stored: list[str]) -> frozenset[ProfileType]:
    return frozenset(map(ProfileType, stored))


@transaction.atomic
def _write_seen(sightings: dict[int, _DeploymentSighting]) -> None:
    """Write last-seen times, and reload what other processes changed in the same rows."""
    latest = max(fact.time for fact in sightings.values())
    for pks in split_batches(sightings):
        Deployment.objects.filter(pk__in=pks).update(last_seen=latest)
        profiled_by_pk = dict(Deployment.objects.filter(pk__in=pks).values_list("pk", "profiled"))
        for pk in pks:
            _refresh(sightings[pk].position, profiled_by_pk.get(pk))
    for pk, fact in sorted(sightings.items()):
        if fact.language is not None:
            Deployment.objects.filter(pk=pk).update(language=fact.language)


def _refresh(position: _DeploymentPosition, profiled: list[str] | None) -> None:
    """Update the cache after another process stored a first profile, or deleted the row (None)."""
    deployment = _deployments.get(position)
    if profiled is None:
        _deployments.delete(position)
    elif deployment:
        deployment.profiled |= _types(profiled)


def _join(older: _DeploymentSighting, newer: _DeploymentSighting) -> _DeploymentSighting:
    return _DeploymentSighting(newer.time, newer.position, newer.language or older.language)


_deployments: Cache[_DeploymentPosition, CachedDeployment] = Cache(_load, size=MOST_DEPLOYMENTS)
_by_pk: Cache[int, CachedDeployment] = Cache(size=MOST_DEPLOYMENTS)
_rejected: Cache[int, int] = Cache(size=MOST_DEPLOYMENTS, seconds=SECONDS_REJECTED)
_seen: WriteBehindBuffer[int, _DeploymentSighting] = WriteBehindBuffer(_write_seen, _join)


def list_page(project: int, service: str, size: int, after: int = 0) -> list[Deployment]:
    """Return at most `size` deployments of a project (its pk), of one service or, for "", of all.

    `after` is the pk of the previous page's last row: rows inserted meanwhile neither shift nor
    repeat the following ones. Blocks on the database.
    """
    rows = Deployment.objects.filter(project=project, pk__gt=after)
    if service:
        rows = rows.filter(service=service)
    return list(rows.order_by("pk")[:size])
