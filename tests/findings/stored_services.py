"""Services with weeks of stored profiles, in which a change of one function is known."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from profiles.compaction.compactor import Compactor
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.storage.insert import insert
from profiles.storage.new_profile import NewProfile
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.pprofs import pprof

# Midnight after the last profile, and the end of the analysis.
END = datetime(2026, 11, 20, tzinfo=UTC)
DAYS = 14
PER_HOUR = 6
FUNCTIONS = 24
CHANGED = "shop.f5"
CHANGE_TIME = END - timedelta(hours=36)
_LIMITS = DecodeLimits(max_total=2**63 - 1)


@dataclass(frozen=True)
class PlantedChange:
    """Factor on the cost of CHANGED from a time on, which comes with version 2."""

    factor: float = 1.0
    time: datetime = CHANGE_TIME
    end: datetime | None = None


def store_service(
    project: Project,
    service: str,
    change: PlantedChange,
    *,
    days: int = DAYS,
    end: datetime = END,
    compacts: bool = True,
) -> None:
    """Store profiles of `days` days before `end`: 24 functions with noise and a daily rhythm."""
    rng = np.random.default_rng(7)
    old, new = (rows.deployment(project, service, version=version) for version in ("1", "2"))
    shares = rng.uniform(0.5, 3, FUNCTIONS)
    batch = []
    for number in range(days * 24 * PER_HOUR):
        time = end - timedelta(days=days) + timedelta(hours=number / PER_HOUR)
        is_changed = time >= change.time and (change.end is None or time < change.end)
        load = 1 + 0.3 * np.sin(time.hour * np.pi / 12)
        costs = shares * load * 10_000 * (1 + 0.03 * rng.standard_normal(FUNCTIONS))
        costs[5] *= change.factor if is_changed else 1
        stacks = {
            f"main;shop.handler{each % 4};shop.f{each}": int(cost)
            for each, cost in enumerate(costs)
        }
        deployment = new if time >= change.time else old
        batch.append(_new_profile(deployment, stacks, time, f"{service}-{time:%d%H%M}-{number}"))
        if len(batch) == 200:
            insert(batch)
            batch = []
    insert(batch)
    Deployment.objects.filter(project=project, service=service).update(last_seen=end)
    if compacts:
        Compactor(project.pk, end + timedelta(days=1)).build_level1()


def _new_profile(
    deployment: Deployment, stacks: dict[str, int], time: datetime, name: str
) -> NewProfile:
    raw = pprof(stacks, duration_nanos=10 * 10**9)
    return rows.new_profile(
        decode_profile(raw, ProfileType.CPU, _LIMITS),
        raw,
        deployment,
        type=ProfileType.CPU,
        time=time,
        name_id=name,
    )
