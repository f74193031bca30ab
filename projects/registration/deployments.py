"""Registration and listing of deployments; new ones are limited by the project's daily quota."""

from dataclasses import dataclass, field
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from common.bounded_cache import BoundedCache
from common.loading_cache import LoadingCache
from common.write_behind import WriteBehindBuffer, in_parts
from projects.models import DayUsage, Deployment
from projects.profile_types import ProfileType
from projects.usage.day_usage import seconds_to_midnight, utc_day
from projects.usage.limits import LimitName, limits_of
from projects.usage.quota_reached import QuotaReached

MOST_DEPLOYMENTS = 50_000
# Time for which a project over its quota is rejected without an SQL query.
SECONDS_REFUSED = 15.0


@dataclass(frozen=True, slots=True)
class DeploymentKey:
    service: str
    zone: str = ""
    version: str = ""
    language: str = field(default="", compare=False)  # not part of the identity


@dataclass(slots=True)
class KnownDeployment:
    pk: int
    language: str
    profiled: frozenset[ProfileType]


@dataclass(frozen=True, slots=True)
class _DeploymentPosition:
    project: int
    key: DeploymentKey


@dataclass(frozen=True, slots=True)
class _DeploymentSighting:
    at: datetime
    place: _DeploymentPosition
    language: str | None  # the new language, if it changed


async def find(project: int, key: DeploymentKey) -> KnownDeployment:
    """Return the deployment, after inserting its row if it is new.

    Raise QuotaReached if the project may have no more new deployments today.
    """
    place = _DeploymentPosition(project, key)
    known = _deployments.get_cached(place)
    if known is None:
        _raise_if_full(project)
        known = await _deployments.get(place)
    _note_seen(known, place)
    return known


def note_profiled(deployment: int, type: ProfileType) -> None:
    """Record in the cache that the deployment has a profile of this type.

    The row is updated in the commit that stores the profile.
    """
    known = _by_pk.get(deployment)
    if known:
        known.profiled |= {type}


def forget_refusals() -> None:
    """Drop cached rejections, because a quota has changed."""
    _full.clear()


def _note_seen(known: KnownDeployment, place: _DeploymentPosition) -> None:
    language = None
    if place.key.language not in ("", known.language):
        language = known.language = place.key.language
    _seen.note(known.pk, _DeploymentSighting(timezone.now(), place, language))


def _raise_if_full(project: int) -> None:
    allowed = _full.get(project)
    if allowed is not None:
        raise _too_many(allowed)


def _load(place: _DeploymentPosition) -> KnownDeployment:
    key = place.key
    identity = {"service": key.service, "zone": key.zone, "version": key.version}
    rows = Deployment.objects.filter(project=place.project, **identity)
    row = rows.first()
    if row is None:
        try:
            row = _add(place, identity)
        except IntegrityError:  # another process inserted it first
            row = rows.get()
    known = KnownDeployment(row.pk, row.language, _types(row.profiled))
    _by_pk.put(known.pk, known)
    return known


def _add(place: _DeploymentPosition, identity: dict[str, str]) -> Deployment:
    now = timezone.now()
    with transaction.atomic():
        _count_one_more(place.project)
        return Deployment.objects.create(
            project_id=place.project,
            language=place.key.language,
            first_seen=now,
            last_seen=now,
            **identity,
        )


def _count_one_more(project: int) -> None:
    allowed = limits_of(project).new_deployments_per_day
    row, _created = DayUsage.objects.get_or_create(project_id=project, day=utc_day())
    there_is_room = DayUsage.objects.filter(pk=row.pk, new_deployments__lt=allowed)
    if not there_is_room.update(new_deployments=F("new_deployments") + 1):
        _full.put(project, allowed)
        raise _too_many(allowed)


def _too_many(allowed: int) -> QuotaReached:
    wait = seconds_to_midnight(timezone.now())
    return QuotaReached(LimitName.NEW_DEPLOYMENTS_PER_DAY, allowed, wait)


def _types(stored: list[str]) -> frozenset[ProfileType]:
    return frozenset(map(ProfileType, stored))


@transaction.atomic
def _write_seen(seen: dict[int, _DeploymentSighting]) -> None:
    """Write last-seen times, and reload what other processes changed in the same rows."""
    latest = max(fact.at for fact in seen.values())
    for pks in in_parts(seen):
        Deployment.objects.filter(pk__in=pks).update(last_seen=latest)
        there = dict(Deployment.objects.filter(pk__in=pks).values_list("pk", "profiled"))
        for pk in pks:
            _learn(seen[pk].place, there.get(pk))
    for pk, fact in sorted(seen.items()):
        if fact.language is not None:
            Deployment.objects.filter(pk=pk).update(language=fact.language)


def _learn(place: _DeploymentPosition, profiled: list[str] | None) -> None:
    """Update the cache after another process stored a first profile, or deleted the row (None)."""
    known = _deployments.get_cached(place)
    if profiled is None:
        _deployments.delete(place)
    elif known:
        known.profiled |= _types(profiled)


def _join(older: _DeploymentSighting, newer: _DeploymentSighting) -> _DeploymentSighting:
    return _DeploymentSighting(newer.at, newer.place, newer.language or older.language)


_deployments: LoadingCache[_DeploymentPosition, KnownDeployment] = LoadingCache(
    _load, size=MOST_DEPLOYMENTS
)
_by_pk: BoundedCache[int, KnownDeployment] = BoundedCache(size=MOST_DEPLOYMENTS)
_full: BoundedCache[int, int] = BoundedCache(size=MOST_DEPLOYMENTS, seconds=SECONDS_REFUSED)
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
