"""Two functions that use CPU time 3 : 1, beside threads that sleep.

Usage: shares.py cpu|wall SECONDS, of CPU time: a busy machine takes longer.
"""

import json
import sys
import threading
import time

from flamewatch import _native
from flamewatch.capture.stacks import Stack, read_stacks


def three() -> None:
    for _ in range(30_000):
        pass


def one() -> None:
    for _ in range(10_000):
        pass


used, passed = {"three": 0, "one": 0}, {"three": 0, "one": 0}  # CPU time, and wall time
done = threading.Event()


def work() -> None:
    while not done.is_set():
        for function in (three, one):
            before, begun = time.thread_time_ns(), time.monotonic_ns()
            function()
            used[function.__name__] += time.thread_time_ns() - before
            passed[function.__name__] += time.monotonic_ns() - begun


def value_of(stacks: list[Stack], function: str) -> int:
    return sum(s.value for s in stacks if function in {f.function for f in s.frames})


threads = [threading.Thread(target=work), *(threading.Thread(target=done.wait) for _ in range(5))]
for thread in threads:
    thread.start()
before, begun = dict(used), dict(passed)
enough, longest = float(sys.argv[2]) * 1e9, time.monotonic() + 60
_native.start("cpu" if sys.argv[1] == "cpu" else "wall", period_us=5_000)
while sum(used.values()) - sum(before.values()) < enough and time.monotonic() < longest:
    _native.wait(0.2)
raw = _native.stop()
truth = {name: used[name] - before[name] for name in used}
times = {name: passed[name] - begun[name] for name in passed}
done.set()
for thread in threads:
    thread.join()
stacks = read_stacks(raw)
print(
    json.dumps(
        {
            "truth": truth,
            "passed": times,
            "seen": {name: value_of(stacks, name) for name in used},
            "waiting": value_of(stacks, "Event.wait"),
            "total": sum(s.value for s in stacks),
            "duration": raw["duration_ns"],
            "counts": raw["counts"],
        }
    )
)
