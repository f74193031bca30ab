"""Profiles of a service, one a minute, whose values are planted."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from alerts.conditions.registry import ConditionKind
from alerts.models import AlertRule
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.storage.insert import insert
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.pprofs import pprof

START = rows.NOON
MINUTE = timedelta(minutes=1)
SECOND = 1_000_000  # in the µs of stacks
_LIMITS = DecodeLimits(max_total=2**63 - 1)


def store_minutes(
    project: Project,
    seconds: Sequence[float | None],
    *,
    service: str = "shop",
    start: datetime = START,
    base: float = 1,
) -> None:
    """Store a CPU profile of 10 s a minute: `base` seconds of main, the given ones of price.

    None leaves a minute without a profile.
    """
    deployment = rows.deployment(project, service)
    batch = []
    for number, value in enumerate(seconds):
        if value is None:
            continue
        stacks = {"main": int(base * SECOND), "main;price": int(value * SECOND)}
        raw = pprof(stacks, duration_nanos=10 * 10**9)
        batch.append(
            rows.new_profile(
                decode_profile(raw, ProfileType.CPU, _LIMITS),
                raw,
                deployment,
                type=ProfileType.CPU,
                time=start + number * MINUTE + timedelta(seconds=7),
                name_id=f"{service}-{start:%d%H%M}-{number}",
            )
        )
    insert(batch)


def add_rule(
    project: Project,
    kind: ConditionKind = ConditionKind.VALUE,
    parameters: Mapping[str, object] | None = None,
    *,
    created: datetime = START,
    **fields: object,
) -> AlertRule:
    """Add a rule, by default: price takes more than 0.25 cores for 10 minutes."""
    is_series = kind in {ConditionKind.VALUE, ConditionKind.AGAINST_LAST_WEEK}
    default = {"measure": "cores", "is_above": True, "threshold": 0.25, "minutes": 10}
    values: dict[str, object] = {
        "name": "Price of shop",
        "service": "shop" if is_series else "",
        "type": "CPU" if is_series else "",
        "function": "price" if is_series else "",
        "changed": created,
    }
    rule = AlertRule.objects.create(
        project=project,
        kind=kind,
        parameters=dict(parameters or default),
        **values | fields,
    )
    AlertRule.objects.filter(pk=rule.pk).update(created=created)
    rule.refresh_from_db()
    return rule
