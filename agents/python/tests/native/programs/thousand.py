"""A thousand waiting threads, twenty of them with 5,000 nested calls."""

import json
import sys
import threading
import time

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

THREADS, DEEP, DEPTH, LIMIT = 1000, 20, 5000, 512
sys.setrecursionlimit(2 * DEPTH)
threading.stack_size(1 << 20)
started = threading.Semaphore(0)
done = threading.Event()


def down(n: int) -> None:
    if n:
        down(n - 1)
    else:
        started.release()
        done.wait()


depths = [DEPTH if n < DEEP else 3 for n in range(THREADS)]
threads = [threading.Thread(target=down, args=(depth,)) for depth in depths]
for thread in threads:
    thread.start()
for _ in threads:
    started.acquire()
time.sleep(0.3)  # time to get from the semaphore to the wait

own = _native.thread_id()
_native.start("threads", max_depth=LIMIT, exclude=[own])
moment = _native.stop()
_native.start("wall", max_depth=LIMIT, exclude=[own])
_native.wait(2)
wall = _native.stop()
_native.start("cpu", max_depth=LIMIT, exclude=[own])
_native.wait(1)
cpu = _native.stop()
done.set()
for thread in threads:
    thread.join()
stacks = read_stacks(moment)
print(
    json.dumps(
        {
            "threads": sum(s.value for s in stacks),
            "cut": sum(s.cut for s in stacks),
            "deepest": max(len(s.frames) for s in stacks),
            "counted_cut": moment["counts"]["cut"],
            "wall": sum(s.value for s in read_stacks(wall)) / wall["duration_ns"],
            "dropped": wall["counts"]["torn"] + wall["counts"]["table_full"],
            "tick_ns": {
                raw["kind"]: raw["sampler_cpu_ns"] / raw["counts"]["ticks"] for raw in (wall, cpu)
            },
            "share": {
                raw["kind"]: raw["sampler_cpu_ns"] / raw["duration_ns"] for raw in (wall, cpu)
            },
        }
    )
)
