"""Synthetic CPU profile as Go's runtime writes them: 139 kB raw, 49 kB gzip, deterministic."""

import gzip
import random

from tests.ingest.pprof import field, varint

_FUNCTIONS, _SAMPLES, _DEEPEST = 930, 500, 32
_WORDS = """
    alloc append batch buffer cache chan client close codec commit compress conn context copy
    decode dispatch encode event fetch flush gc handle hash http index insert json lock log
    map marshal merge metric net parse poll pool proto queue read record route run scan
    scheduler select send serve session shard sort sql store stream sync syscall table trace
    tx write
""".split()  # noqa: SIM905  easier to read than a quoted list


def go_profile() -> bytes:
    chance = random.Random(139)
    strings = ["", "samples", "count", "cpu", "nanoseconds"]
    body = _value_type(1, 1, 2) + _value_type(1, 3, 4)
    body += b"".join(_sample(chance, stack) for stack in _stacks(chance))
    body += field(3, field(1, 1) + field(2, 0x400000) + field(3, 0x1C00000) + field(5, 5))
    strings.append("/usr/local/bin/checkout")
    for i in range(1, _FUNCTIONS + 1):
        package = f"github.com/acme/{chance.choice(_WORDS)}/{chance.choice(_WORDS)}"
        first, second, third, file = (chance.choice(_WORDS) for _ in range(4))
        method = f"(*{first.title()}).{second}{third.title()}"
        strings += [f"{package}.{method}", f"/src/{package}/{file}.go"]
        body += _location(chance, i) + _function(chance, i, len(strings) - 2)
    body += b"".join(field(6, text.encode()) for text in strings)
    body += field(9, 1_800_000_000 * 10**9) + field(10, 10_000_000_000)
    body += _value_type(11, 3, 4) + field(12, 10_000_000)
    return gzip.compress(body, 1, mtime=0)


def _value_type(number: int, kind: int, unit: int) -> bytes:
    return field(number, field(1, kind) + field(2, unit))


def _stacks(chance: random.Random) -> list[list[int]]:
    """Return stacks, leaf first, of random walks through a call graph.

    Each function calls a few others, and a walk shares most of its frames with an earlier walk, as
    the stacks of a real program do.
    """
    calls = {i: chance.sample(range(1, _FUNCTIONS + 1), 6) for i in range(1, _FUNCTIONS + 1)}
    stacks = [[1]]
    for _ in range(_SAMPLES):
        stack = list(chance.choice(stacks[-40:]))
        del stack[max(1, len(stack) - chance.randint(1, 5)) :]
        for _ in range(chance.randint(2, 6)):
            stack.append(chance.choice(calls[stack[-1]]))
        stacks.append(stack[:_DEEPEST])
    return [stack[::-1] for stack in stacks[1:]]


def _sample(chance: random.Random, stack: list[int]) -> bytes:
    count = chance.choice([1, 1, 1, 2, 3, 9])
    locations = b"".join(map(varint, stack))
    values = varint(count) + varint(count * 10_000_000)
    return field(2, field(1, locations) + field(2, values))


def _location(chance: random.Random, i: int) -> bytes:
    line = field(1, i) + field(2, chance.randint(20, 900))
    address = chance.randint(0x401000, 0x1BFF000)
    return field(4, field(1, i) + field(2, 1) + field(3, address) + field(4, line))


def _function(chance: random.Random, i: int, name: int) -> bytes:
    names = field(2, name) + field(3, name) + field(4, name + 1)
    return field(5, field(1, i) + names + field(5, chance.randint(1, 800)))
