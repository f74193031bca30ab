"""Profiles of known shapes, made from those that this project captured itself.

The peers' figures are of the same shapes, not of the same bytes. Each upload takes one of some
variants of its shape, which are parts of its samples, with every value times 0.5 to 1.5.
"""

import gzip
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from profiles.engine.digest import DigestLimits, digest
from profiles.engine.tree import Tree
from tests.profiles.pprof_proto import Profile

SAMPLES = Path(__file__).parent.parent / "tests" / "samples"
RAW_A = 139_000  # bytes of a Go CPU profile, unpacked


@dataclass(frozen=True, slots=True)
class Shape:
    """What the peers were measured with, too."""

    type: str
    captured: str
    samples: int  # of the profile that the variants are parts of
    programs: int  # that it shows: copies under other names
    variants: int
    part: tuple[float, float]  # of the samples that a variant has
    profiles: int  # in the whole set
    apart: int  # seconds


SHAPES = {
    "A": Shape("CPU", "go-cpu", 404, 2, 64, (0.45, 0.8), 5_760, 15),
    "D": Shape("CPU", "go-cpu", 160, 1, 256, (0.625, 0.625), 43_200, 60),
    "H": Shape("HEAP_ALLOC", "go-heap", 4_963, 1, 64, (0.4, 0.7), 1_440, 15),
    "C": Shape("HEAP", "go-heap", 11_765, 3, 16, (0.97, 1.0), 1_440, 15),
}
INSTANCES = 16


def captured(name: str) -> Any:
    return Profile.FromString(gzip.decompress((SAMPLES / f"{name}.pb.gz").read_bytes()))


@cache
def shape_a() -> bytes:
    """A Go CPU profile of the shape A: 139 kB raw, about 400 samples of two types, no labels."""
    message = captured("go-cpu")
    del message.sample[404:]
    for sample in message.sample:
        del sample.label[:]
    doubled = _another_program(message, list(message.location), "second")
    for number, sample in enumerate(message.sample):
        if number % 2:
            sample.location_id[:] = [doubled.get(i, i) for i in sample.location_id]
    return _pruned(message, RAW_A)


@cache
def _whole(name: str) -> bytes:
    """The profile that the variants of a shape are parts of."""
    if name == "A":
        return shape_a()
    shape = SHAPES[name]
    message = captured(shape.captured)
    own = list(message.location)
    renamed: list[dict[int, int]] = [{}]
    renamed += [_another_program(message, own, f"copy{i}") for i in range(1, shape.programs)]
    samples = [_copy(sample) for sample in message.sample if any(sample.value)]
    del message.sample[:]
    for number in range(shape.samples):
        sample = message.sample.add()
        sample.CopyFrom(samples[number % len(samples)])
        program = renamed[number // len(samples)]
        sample.location_id[:] = [program.get(i, i) for i in sample.location_id]
        del sample.label[:]
    return _pruned(message, 0)


def _another_program(message: Any, own: list[Any], name: str) -> dict[int, int]:
    """Give the profile another copy of its functions, under other names; old id: new id."""
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


def _pruned(message: Any, most: int) -> bytes:
    """Bytes of the message, with as many unused functions dropped as makes it `most` large."""
    used = {line for sample in message.sample for line in sample.location_id}
    spare = [location for location in message.location if location.id not in used]
    while spare and message.ByteSize() > most:
        message.location.remove(spare.pop())
    return bytes(message.SerializeToString())


def _copy(sample: Any) -> Any:
    return type(sample).FromString(sample.SerializeToString())


def _part_of(raw: bytes, part: tuple[float, float], rng: random.Random) -> Any:
    """The profile with as large a part of its samples as the range says."""
    message = Profile.FromString(raw)
    count = len(message.sample)
    kept = rng.sample(range(count), int(rng.uniform(*part) * count))
    copies = [_copy(message.sample[i]) for i in sorted(kept)]
    del message.sample[:]
    message.sample.extend(copies)
    return message


def variants(count: int, seed: int = 1) -> Iterator[bytes]:
    """`count` profiles like shape A: 45-80 % of its samples, values times 0.5-1.5."""
    rng = random.Random(seed)
    for _ in range(count):
        message = _part_of(shape_a(), SHAPES["A"].part, rng)
        for sample in message.sample:
            factor = rng.uniform(0.5, 1.5)
            sample.value[:] = [max(1, round(value * factor)) for value in sample.value]
        yield bytes(message.SerializeToString())


@cache
def _digested(name: str) -> tuple[Tree, ...]:
    """The variants of a shape."""
    shape, rng = SHAPES[name], random.Random(1)
    messages = (_part_of(_whole(name), shape.part, rng) for _ in range(shape.variants))
    limits = DigestLimits()
    return tuple(digest(m.SerializeToString(), shape.type, limits).tree for m in messages)


def trees(name: str, count: int, seed: int = 1) -> Iterator[Tree]:
    """The call trees of `count` uploads of a shape."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        tree = _digested(name)[int(rng.integers(SHAPES[name].variants))]
        factors = rng.uniform(0.5, 1.5, tree.self.shape)
        values = np.maximum(np.rint(tree.self * factors), tree.self != 0)
        yield replace(tree, self=values.astype(np.int64))
