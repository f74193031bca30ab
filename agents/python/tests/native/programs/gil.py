"""Threads that wait for the GIL, and measure the waits themselves.

Usage: gil.py busy|alone|briefly [cpu|wall|threads]
"""

import json
import sys
import threading
import time
from collections import Counter
from typing import Any

from flamewatch import _native
from flamewatch.capture.stacks import Stack, read_stacks

SECONDS = 3.0
done = threading.Event()
waited: Counter[str] = Counter()  # by function, ns


def spin() -> None:
    """Wait for the GIL whenever another thread has it: all time without the CPU is a wait."""
    begun, used = time.monotonic_ns(), time.thread_time_ns()
    while not done.is_set():
        for _ in range(1000):
            pass
    waited["spin"] += time.monotonic_ns() - begun - time.thread_time_ns() + used


def nap() -> None:
    """Sleep for short times: what a sleep takes beyond its own time is the wait for the GIL."""
    late = 0
    while not done.is_set():
        begun = time.monotonic_ns()
        time.sleep(0.002)
        late += time.monotonic_ns() - begun - 2_000_000
    waited["nap"] += late


def rest(lock: threading.Lock) -> None:
    """Wait for a lock and for the end of a sleep, never for the GIL."""
    lock.acquire(timeout=SECONDS)
    time.sleep(0.01)
    done.wait()


def value_of(stacks: list[Stack], function: str, gil: bool) -> int:
    return sum(
        stack.value
        for stack in stacks
        if stack.waits_for_gil is gil and function in {f.function for f in stack.frames}
    )


lock = threading.Lock()
lock.acquire()
functions = {"busy": [spin, spin, spin], "alone": [spin], "briefly": [spin, nap]}
threads = [threading.Thread(target=function) for function in functions[sys.argv[1]]]
threads += [threading.Thread(target=rest, args=[lock]) for _ in range(3)]
kind: Any = sys.argv[2] if len(sys.argv) > 2 else "wall"
for thread in threads:
    thread.start()
_native.start(kind, period_us=5_000)
_native.wait(SECONDS)
raw = _native.stop()
done.set()
for thread in threads:
    thread.join()
stacks = read_stacks(raw)
print(
    json.dumps(
        {
            "supported": _native.gil_waits_supported(),
            "waited": waited,
            "seen": {name: value_of(stacks, name, True) for name in ("spin", "nap", "rest")},
            "total": {name: value_of(stacks, name, False) for name in ("spin", "nap", "rest")},
            "duration": raw["duration_ns"],
            "counts": raw["counts"],
        }
    )
)
