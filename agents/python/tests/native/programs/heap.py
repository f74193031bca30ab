"""Counted allocations: in use, freed, reallocated; in threads, and beside other hooks.

Prints the counts by function.
"""

import json
import struct
import sys
import threading
import tracemalloc
from collections import defaultdict
from itertools import repeat

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

MIB = 1 << 20
Seen = dict[str, list[int]]
blocks: list[object] = []


def start(*, mean_bytes: int, raw: bool = False, max_bytes: int = 4 << 20) -> bool:
    """Start counting without a limit on the number of samples."""
    return _native.heap_start(
        mean_bytes=mean_bytes, raw=raw, max_bytes=max_bytes, samples_per_second=1 << 30
    )


def seen(kind: str) -> Seen:
    """Map functions to objects and bytes allocated, objects and bytes in use."""
    raw = _native.heap_read("heap" if kind == "heap" else "heap_alloc")
    found: Seen = defaultdict(lambda: [0, 0, 0, 0])
    rows = struct.iter_unpack("=4q", raw["memory"])
    for stack, row in zip(read_stacks(raw), rows, strict=True):
        for name in {frame.function for frame in stack.frames}:
            found[name] = [a + b for a, b in zip(found[name], row, strict=True)]
    return dict(found)


def keep(n: int) -> None:
    """Allocate without `range`: 3.14 and later cache freed range iterators."""
    blocks.extend(bytes(1000) for _ in repeat(None, n))


def drop(n: int) -> None:
    for _ in range(n):
        bytearray(MIB)


def grow(n: int) -> None:
    """Reallocate one block repeatedly: its last size is in use at the end."""
    data = bytearray(n)
    for _ in range(4):
        data += bytes(n)
    blocks.append(data)


def shrink(n: int) -> None:
    data = bytearray(8 * n)
    del data[n:]
    blocks.append(data)


def documented() -> None:
    for _ in range(10):
        bytearray(MIB)


def truth() -> dict[str, object]:
    start(mean_bytes=2048)
    keep(20_000)
    drop(200)
    _native.heap_mark()
    threads = [threading.Thread(target=keep, args=(4000,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    before = {"heap": seen("heap"), "heap_alloc": seen("heap_alloc")}
    blocks.clear()
    after = {"heap": seen("heap"), "heap_alloc": seen("heap_alloc")}
    return {"before": before, "after": after, "size": sys.getsizeof(bytes(1000))}


def moved() -> dict[str, object]:
    start(mean_bytes=4096)
    for _ in range(100):
        grow(100_000)
        shrink(100_000)
    return {"before": seen("heap"), "bytes_in_use": sum(sys.getsizeof(data) for data in blocks)}


def one_by_one() -> dict[str, object]:
    """Sample every block, so that the counts are exact."""
    start(mean_bytes=1)
    keep(100)
    documented()
    before = seen("heap")
    blocks.clear()
    return {"before": before, "after": seen("heap"), "size": sys.getsizeof(bytes(1000))}


def beside_tracemalloc() -> dict[str, object]:
    """Hook over tracemalloc, then below it; tracemalloc's end removes the upper hooks too."""
    found = {}
    tracemalloc.start()
    start(mean_bytes=1)
    keep(10)
    found["over"] = seen("heap")["keep"]
    tracemalloc.stop()
    found["taken_along"] = start(mean_bytes=1)
    keep(20)
    found["again"] = seen("heap")["keep"]
    tracemalloc.start()
    found["still_reached"] = not start(mean_bytes=1)
    keep(30)
    found["under"] = seen("heap")["keep"]
    _native.heap_stop()
    keep(40)
    blocks.clear()
    traced = tracemalloc.get_traced_memory()[0]
    start(mean_bytes=1)
    keep(50)
    found["restarted"] = seen("heap")["keep"]
    tracemalloc.stop()
    _native.heap_stop()
    return {**found, "traced": traced}


def apart() -> dict[str, object]:
    def unseen() -> None:
        _native.heap_apart()
        keep(1000)

    start(mean_bytes=1)
    thread = threading.Thread(target=unseen)
    thread.start()
    thread.join()
    return seen("heap")


def whole() -> dict[str, object]:
    """Count the raw domain too: requests passed on by the object domain are not counted twice."""
    start(mean_bytes=1, raw=True)
    keep(100)
    documented()
    before = seen("heap")
    blocks.clear()
    after = seen("heap")
    _native.heap_stop()
    return {"before": before, "after": after, "size": sys.getsizeof(bytes(1000))}


def even(n: int, depth: int) -> None:
    """Allocate with a different stack for each n."""
    if depth:
        (odd if n & 1 else even)(n >> 1, depth - 1)
    else:
        bytes(5000)


def odd(n: int, depth: int) -> None:
    even(n, depth)


def full() -> dict[str, object]:
    """Allocate at more sites than the table holds: sites without blocks in use are evicted."""
    start(mean_bytes=64, max_bytes=1 << 18)
    for n in range(4000):
        even(n, 12)
    keep(1000)
    counts = _native.heap_read("heap")["counts"]
    return {"counts": counts, "keep": seen("heap").get("keep")}


print(json.dumps(globals()[sys.argv[1]]()))
