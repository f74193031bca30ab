"""NumPy arrays: created before and after counting begins, resized, viewed, freed, in threads."""

import json
import struct
import threading
from collections import defaultdict

import numpy

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

MEGABYTE = 1_000_000
blocks: list[object] = []


def make() -> None:
    blocks.append(numpy.ones(MEGABYTE, dtype="u1"))
    blocks.append(numpy.zeros(2 * MEGABYTE, dtype="u1")[::7])


def resize() -> None:
    array = numpy.empty(MEGABYTE, dtype="u1")
    array.resize(3 * MEGABYTE, refcheck=False)
    blocks.append(array)


def drop() -> None:
    numpy.arange(MEGABYTE, dtype="u1") + 1


def small() -> None:
    for _ in range(100):
        numpy.empty(10, dtype="u1")


def seen() -> dict[str, list[int]]:
    raw = _native.heap_read("heap")
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for stack, row in zip(read_stacks(raw), struct.iter_unpack("=4q", raw["memory"]), strict=True):
        for name in {frame.function for frame in stack.frames}:
            found[name] = [found[name][0] + row[1], found[name][1] + row[3]]
    return found


before = numpy.ones(MEGABYTE)
_native.heap_start(mean_bytes=1, samples_per_second=1 << 30)
for work in (make, resize, drop, small):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
del before
result = {"alive": seen()}
blocks.clear()
result["freed"] = seen()
blocks.append(numpy.ones(MEGABYTE))
_native.heap_stop()
blocks.clear()
make()
print(json.dumps(result))
