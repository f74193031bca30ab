"""Profiles of known shapes, derived from profiles that this project captured itself.

The peers' figures are for the same shapes, not for the same bytes. Each upload uses one of several
variants of its shape: a subset of the samples, with every value multiplied by 0.5 to 1.5. A has
about 404 samples and 139 kB (54 kB gzip), D 100 and 34 kB, H 2,800 and 155 kB, C 11,600 and 700 kB.
"""

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tools.pruning import copy_of, keep, prune
from profiles.engine.calltree.tree import Tree
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from tests.profiles.pprof_proto import Profile

SAMPLES = Path(__file__).parents[2] / "tests" / "samples"


@dataclass(frozen=True, slots=True)
class ProfileShape:
    """Shape of profiles, the same as in the measurements of the peers."""

    type: str
    captured: str
    samples: int  # of the full profile, of which each variant is a subset
    programs: int  # copies of the program, under other names
    variants: int
    part: tuple[float, float]  # share of the samples in a variant
    spare: int  # unused locations
    profiles: int  # in the full set
    apart: int  # seconds between profiles


SHAPES = {
    "A": ProfileShape("CPU", "go-cpu", 646, 2, 64, (0.45, 0.8), 600, 5_760, 15),
    "D": ProfileShape("CPU", "go-cpu", 160, 1, 256, (0.625, 0.625), 60, 43_200, 60),
    "H": ProfileShape("HEAP_ALLOC", "go-heap", 4_963, 1, 64, (0.4, 0.7), 0, 1_440, 15),
    "C": ProfileShape("HEAP", "go-heap", 11_765, 3, 16, (0.97, 1.0), 0, 1_440, 15),
}
INSTANCES = 16


def captured(name: str) -> Any:
    return Profile.FromString(gzip.decompress((SAMPLES / f"{name}.pb.gz").read_bytes()))


@cache
def _whole(name: str) -> bytes:
    """Return the full profile of a shape, of which the variants are subsets."""
    shape = SHAPES[name]
    message = captured(shape.captured)
    own = list(message.location)
    renamed: list[dict[int, int]] = [{}]
    renamed += [_another_program(message, own, f"copy{i}") for i in range(1, shape.programs)]
    samples = [copy_of(sample) for sample in message.sample if any(sample.value)]
    del message.sample[:]
    for number in range(shape.samples):
        sample = message.sample.add()
        sample.CopyFrom(samples[number % len(samples)])
        program = renamed[number // len(samples)]
        sample.location_id[:] = [program.get(i, i) for i in sample.location_id]
        del sample.label[:]
    return bytes(message.SerializeToString())


def _another_program(message: Any, own: list[Any], name: str) -> dict[int, int]:
    """Add a copy of the profile's functions under other names; return {old id: new id}."""
    strings = len(message.string_table)
    base = 1 + max(location.id for location in message.location)
    copies: dict[int, int] = {}
    functions = {function.id: function for function in message.function}
    made: dict[int, int] = {}
    for location in own:
        copy = message.location.add()
        copy.CopyFrom(location)
        copy.id = copies[location.id] = base + len(copies)
        for line in copy.line:
            if line.function_id not in made:
                function = message.function.add()
                function.CopyFrom(functions[line.function_id])
                function.id = made[line.function_id] = base + len(made)
                old = message.string_table[function.name]
                message.string_table.append(b"example.org/" + name.encode() + b"/" + old)
                function.name = strings + len(made) - 1
            line.function_id = made[line.function_id]
    return copies


def _variant(name: str, rng: random.Random) -> Any:
    """Return the full profile reduced to a random subset of its samples and their symbols."""
    shape, message = SHAPES[name], Profile.FromString(_whole(name))
    count = len(message.sample)
    keep(message.sample, sorted(rng.sample(range(count), int(rng.uniform(*shape.part) * count))))
    prune(message, shape.spare)
    return message


def variants(count: int, seed: int = 1, name: str = "A") -> Iterator[bytes]:
    """Yield `count` profiles of a shape, as uncompressed pprof."""
    rng = random.Random(seed)
    for _ in range(count):
        message = _variant(name, rng)
        for sample in message.sample:
            factor = rng.uniform(0.5, 1.5)
            sample.value[:] = [value and max(1, round(value * factor)) for value in sample.value]
        yield bytes(message.SerializeToString())


@cache
def _digested(name: str) -> tuple[Tree, ...]:
    """Return the decoded variants of a shape."""
    shape, rng = SHAPES[name], random.Random(1)
    messages = (_variant(name, rng) for _ in range(shape.variants))
    limits = DecodeLimits()
    return tuple(decode_profile(m.SerializeToString(), shape.type, limits).tree for m in messages)


def trees(name: str, count: int, seed: int = 1) -> Iterator[Tree]:
    """Yield the call trees of `count` uploads of a shape."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        tree = _digested(name)[int(rng.integers(SHAPES[name].variants))]
        factors = rng.uniform(0.5, 1.5, tree.self.shape)
        values = np.maximum(np.rint(tree.self * factors), tree.self != 0)
        yield replace(tree, self=values.astype(np.int64))
