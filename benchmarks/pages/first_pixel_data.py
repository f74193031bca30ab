"""Store the profiles of the flame page's benchmark as blocks in a server's database.

Run `python -m benchmarks.pages.first_pixel_data PROJECT END` in the server's environment; END is
RFC 3339. The service `shop` has 1,800 profiles of shape A, 15 s apart; `wide` has 16 profiles of
unrelated stacks, which merge into 274,000 nodes.
"""

import os
import random
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
django.setup()

from benchmarks.tools.shapes import variants
from profiles.compaction.compactor import Compactor
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.storage.insert import insert
from profiles.storage.new_profile import NewProfile
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles.pprof_proto import Profile
from tests.profiles.rows import new_profile

PROFILES, VARIANTS, PROFILE_INTERVAL = 1_800, 64, timedelta(seconds=15)
WIDE_PROFILES, WIDE_NODES = 16, 274_000
FUNCTIONS, PACKAGES, LONGEST = 4_000, 120, 60


def _profiles(of: Deployment, raws: Sequence[bytes], count: int, end: datetime) -> list[NewProfile]:
    decoded = [decode_profile(raw, ProfileType.CPU, DecodeLimits()) for raw in raws]
    return [
        new_profile(
            decoded[i % len(raws)],
            raws[i % len(raws)],
            of,
            type=ProfileType.CPU,
            time=end - (i + 1) * PROFILE_INTERVAL,
            name_id=f"{of.service}-{i}",
        )
        for i in range(count)
    ]


def _unrelated(seed: int = 1) -> Iterator[bytes]:
    """Yield profiles whose stacks together have WIDE_NODES nodes, as uncompressed pprof.

    A stack leaves an earlier stack of its profile at a random depth, and goes on for 1 to 12
    frames that no other stack has there.
    """
    rng = random.Random(seed)
    for number in range(WIDE_PROFILES):
        message = _without_samples()
        # Each profile has a root of its own, so that no node is in two profiles.
        root, pending = 1 + number, WIDE_NODES // WIDE_PROFILES - 1
        stacks: list[tuple[int, ...]] = [(root,)]
        nodes = set(stacks)
        while pending > 0:
            before = rng.choice(stacks)
            stack = before[: rng.randint(1, len(before))]
            for _ in range(min(pending, rng.randint(1, 12), LONGEST - len(stack))):
                stack += (rng.randint(1, FUNCTIONS),)
                pending -= stack not in nodes
                nodes.add(stack)
            stacks.append(stack)
            value = max(1, round(rng.paretovariate(0.8)))
            message.sample.add(location_id=stack[::-1], value=[value, value * 10_000_000])
        yield message.SerializeToString()


def _without_samples() -> "Profile":
    texts = [b"", b"samples", b"count", b"cpu", b"nanoseconds"]
    message = Profile(duration_nanos=10_000_000_000)
    message.sample_type.add(type=1, unit=2)
    message.sample_type.add(type=3, unit=4)
    for i in range(1, FUNCTIONS + 1):
        package = f"example.org/shop/package{i % PACKAGES}"
        texts += [f"{package}.(*Type{i % 97}).Function{i}".encode(), f"{package}/{i}.go".encode()]
        message.function.add(id=i, name=len(texts) - 2, filename=len(texts) - 1)
        message.location.add(id=i).line.add(function_id=i, line=i)
    message.string_table[:] = texts
    return message


def fill(project: Project, end: datetime) -> None:
    services = {
        "shop": (list(variants(VARIANTS)), PROFILES),
        "wide": (list(_unrelated()), WIDE_PROFILES),
    }
    seen = {"first_seen": end - PROFILES * PROFILE_INTERVAL, "last_seen": end}
    for name, (raws, count) in services.items():
        of = Deployment.objects.create(project=project, service=name, profiled=["CPU"], **seen)
        insert(_profiles(of, raws, count, end))
    Compactor(project.pk, end + timedelta(days=1)).build_level1()


if __name__ == "__main__":
    fill(Project.objects.get(project_id=sys.argv[1]), datetime.fromisoformat(sys.argv[2]))
