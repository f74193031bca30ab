"""Profiles of many agents for tests, each with its own metric names and units."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.storage.insert import insert
from projects.models import Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.pprofs import pprof
from tests.profiles.rows import new_profile

STACKS = ("main", "main;a", "main;a;b", "main;c", "main;a;main")
Sum = Counter[str]  # by stack


@dataclass(frozen=True)
class Kind:
    """Sample types that an agent sends, each with the metric that it means.

    `means` is "" for a sample type that is neither of the queried metrics.
    """

    types: tuple[tuple[str, str], ...]
    means: tuple[str, ...]
    factor: int = 1


# For CPU, tests query `cpu` in nanoseconds and `samples`.
CPU_KINDS = (
    Kind((("sample", "count"), ("CPU", "nanoseconds")), ("samples", "cpu")),  # Google's Python
    Kind((("cpu", "nanoseconds"),), ("cpu",)),  # Flamewatch's Python
    Kind((("samples", "count"), ("cpu", "nanoseconds")), ("samples", "cpu")),  # Go
    Kind((("Cpu", "milliseconds"),), ("cpu",), 10**6),
    Kind((("itimer", "nanoseconds"),), ("cpu",)),  # async-profiler
    Kind((("samples", "count"),), ("samples",)),  # Parca, OpenTelemetry
    Kind((("Cycles", "count"),), ("",)),
)
WALL_KINDS = (
    Kind((("sample", "count"), ("wall", "microseconds")), ("sample", "wall"), 1000),  # Node.js
    Kind((("WALL", "nanoseconds"),), ("wall",)),  # Google's Python
    Kind((("samples", "count"), ("wall", "nanoseconds")), ("sample", "wall")),
    Kind((("sample", "count"),), ("sample",)),
)
HEAP_KINDS = (
    Kind((("inuse_objects", "count"), ("inuse_space", "bytes")), ("inuse_objects", "inuse_space")),
    Kind((("objects", "count"), ("space", "bytes")), ("inuse_objects", "inuse_space")),  # Node.js
    Kind((("Inuse_Space", "B"),), ("inuse_space",)),
    Kind((("alloc_space", "bytes"),), ("",)),
)
KINDS = {
    ProfileType.CPU: (("cpu", "samples"), CPU_KINDS),
    ProfileType.WALL: (("wall", "sample"), WALL_KINDS),
    ProfileType.HEAP: (("inuse_space", "inuse_objects"), HEAP_KINDS),
}
_UNITS = {"cpu": "nanoseconds", "wall": "nanoseconds", "inuse_space": "bytes"}
_ANY_TOTAL = DecodeLimits(max_total=2**63 - 1)


@dataclass(frozen=True)
class Sent:
    """Stored profile, with its values for brute-force sums."""

    name_id: str
    minutes: int
    zone: str
    values: dict[str, Sum]  # by metric


def store(
    project: Project, type: ProfileType, count: int, chance: random.Random, minutes: int = 2880
) -> list[Sent]:
    """Store profiles at random times within `minutes` after noon, some with old metric names."""
    return [_stored(project, type, number, chance, minutes) for number in range(count)]


def _stored(
    project: Project, type: ProfileType, number: int, chance: random.Random, minutes: int
) -> Sent:
    kind = chance.choice(KINDS[type][1])
    stacks = {
        stack: [chance.randrange(1, 1000) for _ in kind.types]
        for stack in chance.sample(STACKS, chance.randint(1, len(STACKS)))
    }
    raw = pprof(stacks, kind.types, duration_nanos=10 * 10**9)
    # Without a type metric names are not normalised, as in profiles stored by older versions.
    named_as = chance.choice([type.value, ""])
    zone, at = chance.choice(["eu", "us"]), chance.randrange(minutes)
    of = rows.deployment(project, zone=zone, version=chance.choice("12"))
    name_id = f"mixed-{number:04}"
    made = new_profile(
        decode_profile(raw, named_as, _ANY_TOTAL),
        raw,
        of,
        type=type,
        time=rows.NOON + timedelta(minutes=at),
        name_id=name_id,
    )
    assert insert([made]) == [True]
    return Sent(name_id, at, zone, _values(kind, stacks))


def _values(kind: Kind, stacks: dict[str, list[int]]) -> dict[str, Sum]:
    found: dict[str, Sum] = {}
    for column, ((_, unit), metric) in enumerate(zip(kind.types, kind.means, strict=True)):
        if metric:
            factor = kind.factor if unit != "count" else 1
            found[metric] = Counter({s: row[column] * factor for s, row in stacks.items()})
    return found


def summed(sent: Sequence[Sent], metric: str) -> Sum:
    """Return the sum of a metric's values by stack, over the profiles that have it."""
    return sum((each.values[metric] for each in sent if metric in each.values), Counter())


def having(sent: Sequence[Sent], metric: str) -> int:
    return sum(metric in each.values for each in sent)


def unit_of(metric: str) -> str:
    return _UNITS.get(metric, "count")
