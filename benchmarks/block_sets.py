"""Sets of profiles of a known shape, rolled up into hour and day blocks."""

import base64
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from benchmarks.cpu import Stopwatch
from benchmarks.shapes import INSTANCES, SHAPES, trees
from profiles.engine.blocks import BlockProfile, build_day, build_hour, open_hour
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import encode
from profiles.engine.encoding.compression import FAST
from profiles.engine.metrics import Metric, default_of

START = 1_800_000_000_000_000  # µs, on the hour
HOUR = 3_600  # seconds
HOURS_A_DAY = 24
PART = 64  # profiles, of an hour that comes in parts
NAME_BYTES = 48  # random ones, as in the names that the server issues


@dataclass
class Blocks:
    """A set as it is stored, and what making it cost."""

    name: str
    profiles: int = 0
    head_bytes: int = 0
    hours: list[bytes] = field(default_factory=list)
    whole_days: list[bytes] = field(default_factory=list)  # a day's hours as one hour block
    days: list[bytes] = field(default_factory=list)
    hours_ms: float = 0  # CPU
    in_parts_ms: float = 0  # the same hours, out of parts
    whole_days_ms: float = 0
    days_ms: float = 0
    last: list[bytes] = field(default_factory=list)  # trees of the last profiles

    def a_profile(self, what: float) -> float:
        return what / self.profiles


def rolled_up(name: str, most: int, keep: int = 0) -> Blocks:
    """At most so many profiles of a set; the trees of the last `keep` stay as they were stored."""
    blocks, watch = Blocks(name), Stopwatch()
    profiles = _profiles(name, min(most, SHAPES[name].profiles))
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
    """An hour block, as it is made where more than PART profiles come in an hour."""
    parts = [build_hour(hour[at : at + PART], level=FAST) for at in range(0, len(hour), PART)]
    return build_hour([], [(open_hour(part), None) for part in parts])


def _profiles(name: str, count: int) -> Iterator[BlockProfile]:
    rng = random.Random(2)
    for i, tree in enumerate(trees(name, count)):
        yield _profile(name, tree, START + i * SHAPES[name].apart * 1_000_000, rng)


def _profile(name: str, tree: Tree, time: int, rng: random.Random) -> BlockProfile:
    totals = [(*metric, int(tree.self[k].sum())) for k, metric in enumerate(tree.metrics)]
    default = default_of(SHAPES[name].type, [Metric(n, unit) for n, unit, _ in totals])
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
        samples=len(tree.id),
        labels={"instance": f"shop-{instance}"},
        totals=totals,
        body_hash=rng.randbytes(16),
        tree=encode(tree),
    )
