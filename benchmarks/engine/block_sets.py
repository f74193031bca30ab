"""Sets of profiles of a known shape, compacted into hour and day blocks."""

import base64
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from benchmarks.tools.shapes import INSTANCES, SHAPES, trees
from benchmarks.tools.timing import Stopwatch
from profiles.engine.blocks import BlockProfile, build_day, build_hour, open_hour
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import encode
from profiles.engine.encoding.compression import FAST_COMPRESSION_LEVEL
from profiles.engine.metrics import Metric, find_default

START = 1_800_000_000_000_000  # µs since the epoch, on the hour
HOUR = 3_600  # seconds
HOURS_A_DAY = 24
PART = 64  # profiles per level 0 block of an hour that is compacted in several steps
NAME_BYTES = 48  # random bytes, as in the names that the server issues


@dataclass
class Blocks:
    """Stored form of a set of profiles, and the CPU time of building it."""

    name: str
    profiles: int = 0
    head_bytes: int = 0
    hours: list[bytes] = field(default_factory=list)
    whole_days: list[bytes] = field(default_factory=list)  # the hours of a day as one hour block
    days: list[bytes] = field(default_factory=list)
    hours_ms: float = 0  # CPU time
    in_parts_ms: float = 0  # CPU time for the same hours, built from level 0 blocks
    whole_days_ms: float = 0
    days_ms: float = 0
    last: list[bytes] = field(default_factory=list)  # call trees of the last profiles

    def per_profile(self, total: float) -> float:
        return total / self.profiles


def build_blocks(name: str, most: int, keep: int = 0) -> Blocks:
    """Build the blocks of at most `most` profiles of a set.

    `Blocks.last` has the call trees of the last `keep` profiles, in their stored form.
    """
    blocks, watch = Blocks(name), Stopwatch()
    profiles = make_profiles(name, min(most, SHAPES[name].profiles))
    per_hour = HOUR // SHAPES[name].apart
    while hour := list(islice(profiles, per_hour)):
        blocks.profiles += len(hour)
        blocks.head_bytes += sum(len(profile.tree) for profile in hour)
        blocks.last = [*blocks.last, *(profile.tree for profile in hour)][-keep:] if keep else []
        with watch:
            blocks.hours.append(build_hour(hour))
        blocks.hours_ms += watch.ms
        with watch:
            _in_parts(hour)
        blocks.in_parts_ms += watch.ms
    for first in range(0, len(blocks.hours), HOURS_A_DAY):
        hours = [open_hour(data) for data in blocks.hours[first : first + HOURS_A_DAY]]
        with watch:
            blocks.days.append(build_day(hours))
        blocks.days_ms += watch.ms
        with watch:
            blocks.whole_days.append(build_hour([], [(block, None) for block in hours]))
        blocks.whole_days_ms += watch.ms
    return blocks


def _in_parts(hour: Sequence[BlockProfile]) -> bytes:
    """Build an hour block from level 0 blocks, as for hours of more than PART profiles."""
    parts = [
        build_hour(hour[at : at + PART], compression_level=FAST_COMPRESSION_LEVEL)
        for at in range(0, len(hour), PART)
    ]
    return build_hour([], [(open_hour(part), None) for part in parts])


def make_profiles(name: str, count: int) -> Iterator[BlockProfile]:
    rng = random.Random(2)
    for i, tree in enumerate(trees(name, count)):
        yield _profile(name, tree, START + i * SHAPES[name].apart * 1_000_000, rng)


def _profile(name: str, tree: Tree, time: int, rng: random.Random) -> BlockProfile:
    totals = [(*metric, int(tree.self[k].sum())) for k, metric in enumerate(tree.metrics)]
    default = find_default(SHAPES[name].type, [Metric(n, unit) for n, unit, _ in totals])
    totals.insert(0, totals.pop(default))
    instance = rng.randrange(INSTANCES)
    return BlockProfile(
        name_id=base64.urlsafe_b64encode(rng.randbytes(NAME_BYTES)).decode(),
        time=time + rng.randrange(1_000_000),
        time_source="assigned",
        deployment=1,
        agent=instance,
        duration_ns=10**10,
        weight=totals[0][2],
        samples=int(tree.self.any(axis=0).sum()),
        labels={"instance": f"shop-{instance}"},
        totals=totals,
        body_hash=rng.randbytes(16),
        tree=encode(tree),
    )
