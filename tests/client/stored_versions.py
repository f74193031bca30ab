"""Profiles of versions of a service, in the last hour of the clock."""

from datetime import UTC, datetime, timedelta

import numpy as np

from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.storage.insert import insert
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.pprofs import pprof

PROFILES = 12  # of each version
SLOWER = "shop.price|`x` <b>@all"  # by 30 % in version 2; its name is markup everywhere
FUNCTIONS = {SLOWER: 80, "shop.parse": 400, "shop.render": 300, "shop.sort": 220}  # ms
_LIMITS = DecodeLimits(max_total=2**63 - 1)


def store_versions() -> None:
    """Store PROFILES of versions 1 and 2, and 3 of version 3, of the service shop."""
    project, rng, start = Project.objects.get(), np.random.default_rng(7), datetime.now(UTC)
    for version, count, factor in (("1", PROFILES, 1.0), ("2", PROFILES, 1.3), ("3", 3, 1.0)):
        deployment = rows.deployment(project, version=version)
        batch = []
        for number in range(count):
            stacks = {
                f"main;{name}": int(ms * 1_000 * rng.normal(1, 0.03) * _factor(name, factor))
                for name, ms in FUNCTIONS.items()
            }
            raw = pprof(stacks, duration_nanos=10 * 10**9)
            batch.append(
                rows.new_profile(
                    decode_profile(raw, ProfileType.CPU, _LIMITS),
                    raw,
                    deployment,
                    type=ProfileType.CPU,
                    time=start - timedelta(minutes=40 - number),
                    name_id=f"{version}-{number}",
                    labels={"team": "web"},
                )
            )
        insert(batch)


def _factor(name: str, factor: float) -> float:
    return factor if name == SLOWER else 1.0
