"""Python's allocators before, during and after memory counting.

Usage: allocators.py. Prints the context and the four functions for each time and domain.
"""

import ctypes
import json
import struct

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

DOMAINS = {"raw": 0, "mem": 1, "object": 2}
PARTS = ("context", "malloc", "calloc", "realloc", "free")
get = ctypes.pythonapi.PyMem_GetAllocator
get.restype = None


def installed() -> dict[str, dict[str, int]]:
    found = {}
    for name, domain in DOMAINS.items():
        allocator = (ctypes.c_size_t * len(PARTS))()
        get(domain, ctypes.byref(allocator))
        found[name] = dict(zip(PARTS, allocator, strict=True))
    return found


blocks: list[bytes] = []


def keep(n: int) -> None:
    blocks.extend(bytes(100) for _ in range(n))


def in_use() -> list[int]:
    """Return the blocks and bytes of keep(), without those of the list itself."""
    raw = _native.heap_read("heap")
    rows = struct.iter_unpack("=4q", raw["memory"])
    seen = [
        row[2:]
        for stack, row in zip(read_stacks(raw), rows, strict=True)
        if "keep.<locals>.<genexpr>" in {frame.function for frame in stack.frames}
    ]
    return [sum(column) for column in zip(*seen, strict=True)] or [0, 0]


before = installed()
_native.heap_start(mean_bytes=1, samples_per_second=1 << 30)
during = installed()
keep(1000)
blocks_in_use = in_use()
moved = bytearray(40)
moved += bytes(300)
blocks.clear()
freed = in_use()
_native.heap_stop()
moved += bytes(600)
result = {
    "before": before,
    "during": during,
    "after": installed(),
    "in_use": blocks_in_use,
    "freed": freed,
}
print(json.dumps(result))
