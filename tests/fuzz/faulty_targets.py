"""Targets that fail in every way, for the tests of the fuzzing itself."""

import ctypes
from collections.abc import Mapping, Sequence
from itertools import repeat

from tests.fuzz.cost import CostBound
from tests.fuzz.fuzz_target import FuzzTarget


def _fail(data: bytes) -> None:
    if b"!" in data:
        raise KeyError(data)


def _crash(data: bytes) -> None:
    if b"!" in data:
        ctypes.string_at(0)


def _hang(data: bytes) -> None:
    while b"!" in data:
        pass


def _allocate(data: bytes) -> None:
    bytearray(2**27 if b"!" in data else 2**10)


def _check(data: bytes) -> None:
    bytearray(2**25)  # more than a target may take


def _count_steps(data: bytes) -> None:
    # An input of 100 bytes may take 150,000. No new numbers, whose allocation would be traced.
    for _ in repeat(None, 1_000_000 if b"!" in data else 0):
        pass


def _copy_often(data: bytes) -> None:
    copies = [bytes(2**20) for _ in range(3 if b"!" in data else 0)]
    assert len(copies) < 4


def _reject(data: bytes) -> None:
    raise ValueError(f"{len(data)} bytes")


def _accept(data: bytes) -> None:
    pass


def _seeds() -> Sequence[bytes]:
    return [b"seed", b"other seed"]


_COST = CostBound(steps=100_000)
_RUNS = {"fail": _fail, "crash": _crash, "hang": _hang, "allocate": _allocate, "reject": _reject}
TARGETS: Mapping[str, FuzzTarget] = (
    {name: FuzzTarget(name, run, (ValueError,), _seeds, (b"!",)) for name, run in _RUNS.items()}
    | {
        name: FuzzTarget(name, run, (ValueError,), _seeds, (b"!",), cost=_COST, max_size=100)
        for name, run in (("slow", _count_steps), ("large", _copy_often))
    }
    | {
        name: FuzzTarget(name, run, (ValueError,), _seeds, (b"!",), measured=measured)
        for name, measured, run in (
            ("large-checks", _accept, _check),
            ("large-part", _allocate, _accept),
        )
    }
)
