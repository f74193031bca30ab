"""Threads that allocate and free as fast as possible while counting starts, stops and is read."""

import json
import random
import resource
import sys
import threading
import time

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

done = threading.Event()
PAGE = resource.getpagesize()


def work(seed: int) -> None:
    dice = random.Random(seed)
    blocks: list[object] = []
    while not done.is_set():
        n = dice.randrange(6)
        if n == 0:
            blocks.append(bytearray(dice.randrange(200_000)))
        elif n == 1:
            blocks.append([dice.random() for _ in range(dice.randrange(500))])
        elif n == 2:
            blocks.append({str(i): i for i in range(dice.randrange(200))})
        elif n == 3 and blocks:
            last = blocks[-1]
            if isinstance(last, bytearray):
                last.extend(bytes(dice.randrange(100_000)))
        elif blocks:
            blocks.pop(dice.randrange(len(blocks)))
        if len(blocks) > 200:
            blocks.clear()


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * PAGE


def cycle(n: int) -> int:
    _native.heap_start(samples_per_second=1 << 30, mean_bytes=4096, raw=n % 2 == 0)
    _native.heap_mark()
    time.sleep(0.002)
    seen = len(read_stacks(_native.heap_read("heap"))) + len(
        read_stacks(_native.heap_read("heap_alloc"))
    )
    if n % 3 == 0:
        _native.heap_stop()
    return seen


threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
for thread in threads:
    thread.start()
cycles = int(sys.argv[1])
seen = sum(cycle(n) for n in range(cycles))
done.set()
for thread in threads:
    thread.join()
_native.heap_stop()
# Without threads, so that only the counting can use more memory.
for n in range(50):
    cycle(n)
before = resident()
for n in range(cycles):
    cycle(n)
_native.heap_stop()
print(json.dumps({"seen": seen, "grown": resident() - before}))
