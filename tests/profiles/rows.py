"""Stored profiles for tests."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from profiles.engine.pprof.decode import DecodedProfile, DecodeLimits, decode_profile
from profiles.models import TimeSource
from profiles.storage.insert import insert
from profiles.storage.new_profile import NewProfile
from profiles.storage.profile_content import encode_content
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles.pprofs import EXAMPLE, Stacks, pprof

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
_ANY_TOTAL = DecodeLimits(max_total=2**63 - 1)  # profiles may have been stored under another limit
_numbers = itertools.count()


def days_later(days: int) -> datetime:
    """Return the time so many days after both NOON and now; profiles of both are as old then."""
    return max(NOON, timezone.now()) + timedelta(days=days)


def deployment(
    project: Project, service: str = "shop", zone: str = "eu-1", version: str = "1"
) -> Deployment:
    made, _ = Deployment.objects.get_or_create(
        project=project,
        service=service,
        zone=zone,
        version=version,
        defaults={"first_seen": NOON, "last_seen": NOON},
    )
    return made


def new_profile(
    decoded: DecodedProfile,
    raw: bytes,
    of: Deployment,
    *,
    type: ProfileType,
    time: datetime,
    name_id: str,
    labels: dict[str, str] | None = None,
    agent: int | None = None,
) -> NewProfile:
    """Build the row of a decoded profile, without a compressed body."""
    return NewProfile(
        project=of.project_id,
        deployment=of.pk,
        agent=agent,
        service=of.service,
        type=type,
        time=time,
        time_source=TimeSource.ASSIGNED,
        duration_ns=decoded.duration_ns,
        labels=labels or {},
        name_id=name_id,
        content=encode_content(decoded, raw),
    )


def new(
    of: Deployment,
    stacks: Stacks = EXAMPLE,
    *,
    type: ProfileType = ProfileType.CPU,
    minutes: float = 0,
    name_id: str | None = None,
    labels: dict[str, str] | None = None,
    **fields: Any,
) -> NewProfile:
    """Build a profile of a deployment, `minutes` after noon."""
    raw = pprof(stacks, duration_nanos=10 * 10**9, **fields)
    return new_of(of, raw, type=type, minutes=minutes, name_id=name_id, labels=labels)


def new_of(
    of: Deployment,
    raw: bytes,
    *,
    type: ProfileType = ProfileType.CPU,
    minutes: float = 0,
    name_id: str | None = None,
    labels: dict[str, str] | None = None,
) -> NewProfile:
    """Build a profile from pprof bytes."""
    return new_profile(
        decode_profile(raw, type, _ANY_TOTAL),
        raw,
        of,
        type=type,
        time=NOON + timedelta(minutes=minutes),
        labels=labels or {},
        name_id=name_id or f"name-{next(_numbers)}",
    )


def stored(of: Deployment, stacks: Stacks = EXAMPLE, **fields: Any) -> NewProfile:
    made = new(of, stacks, **fields)
    assert insert([made]) == [True]
    return made


def stored_raw(of: Deployment, raw: bytes, **fields: Any) -> NewProfile:
    """Store a profile from pprof bytes."""
    made = new_of(of, raw, **fields)
    assert insert([made]) == [True]
    return made


def again(made: NewProfile, time: datetime, name_id: str) -> NewProfile:
    """Return the same profile with another time and name."""
    return replace(made, time=time, name_id=name_id)
