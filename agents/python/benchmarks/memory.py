"""Cost and accuracy of memory and lock profiles.

`python benchmarks/memory.py [rounds]`

Cost: CPU time of one thread for the same work with and without the profiler, in alternating rounds
of one process, each the median of a dozen windows; the median of the rounds, with a 95 % interval
by bootstrap. "hooks": memory is counted, as between two captures. For comparison `tracemalloc`,
which records every block. Truth: error of the reported value against the allocated one, the median
(worst) of the rounds.
"""

from __future__ import annotations

import json
import random
import struct
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from peers import conditions

from flamewatch import _native
from flamewatch.capture.stacks import read_stacks

WINDOW_NS = 8_000_000
WINDOWS = 12
SETTLING_NS = 600_000_000  # a host that begins to allocate has many first samples
DOCUMENT = json.dumps(
    [{"id": i, "name": f"n{i}", "tags": ["a", "b"], "value": i / 3} for i in range(200)]
)


class Point:
    __slots__ = ("x", "y")

    def __init__(self, x: int, y: str) -> None:
        self.x, self.y = x, y


def objects() -> None:
    [Point(i, str(i)) for i in range(3000)]


def documents() -> None:
    json.dumps(json.loads(DOCUMENT))


def small_blocks() -> None:
    for _ in range(20_000):
        object()


def lists() -> None:
    for i in range(5000):
        _ = [i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i]


def large_blocks() -> None:
    for _ in range(200):
        bytes(100_000)


def arithmetic() -> None:
    x = 0
    for i in range(20_000):
        x = (x * 31 + i) & 0xFFFF


LOCK = threading.Lock()


def free_lock() -> None:
    for _ in range(5000):
        with LOCK:
            pass


def cost(work: Callable[[], None], times: int) -> float:
    began = time.thread_time_ns()
    for _ in range(times):
        work()
    return time.thread_time_ns() - began


@contextmanager
def count_memory() -> Iterator[None]:
    _native.heap_start()
    yield
    _native.heap_stop()


@contextmanager
def trace_memory() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@contextmanager
def capture_contention() -> Iterator[None]:
    _native.start("contention")
    yield
    _native.stop()


def measure_slowdown(
    work: Callable[[], None], tool: Callable[[], object], rounds: int
) -> list[float]:
    times = max(1, int(WINDOW_NS / (cost(work, 5) / 5)))
    found = []

    def typical() -> float:
        return median(cost(work, times) for _ in range(WINDOWS))

    for _ in range(rounds):
        before = typical()
        with tool():  # type: ignore[attr-defined]
            until = time.thread_time_ns() + (SETTLING_NS if tool is count_memory else 0)
            while time.thread_time_ns() < until:
                work()
            during = typical()
        found.append(100 * (2 * during / (before + typical()) - 1))
    return found


def interval(values: list[float]) -> tuple[float, float]:
    dice = random.Random(0)
    medians = sorted(median(dice.choices(values, k=len(values))) for _ in range(2_000))
    return medians[50], medians[1949]


def line(title: str, values: list[float]) -> None:
    low, high = interval(values)
    print(f"{title:34} {median(values):+7.2f} %   [{low:+.2f} .. {high:+.2f}]", flush=True)


# Contention of three threads for one lock.


def fight(seconds: float) -> float:
    """Return the CPU time of the process per acquisition, in nanoseconds."""
    lock, turns, done = threading.Lock(), [0], threading.Event()

    def work() -> None:
        while not done.is_set():
            with lock:
                sum(range(3000))
                turns[0] += 1
            sum(range(3000))

    threads = [threading.Thread(target=work) for _ in range(3)]
    began = time.process_time_ns()
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    done.set()
    for thread in threads:
        thread.join()
    return (time.process_time_ns() - began) / turns[0]


def contention_slowdown(rounds: int) -> list[float]:
    found = []
    for _ in range(rounds):
        before = fight(0.4)
        with capture_contention():
            during = fight(0.4)
        found.append(100 * (2 * during / (before + fight(0.4)) - 1))
    return found


# Accuracy.

in_use: list[bytes] = []


def keep(n: int) -> int:
    """Return the bytes requested from Python; those of the list itself are negligible."""
    blocks = [bytes(random.randrange(1, 20_000)) for _ in range(n)]
    in_use.extend(blocks)
    return sum(sys.getsizeof(block) for block in blocks)


def sum_bytes(name: str, column: int) -> int:
    raw = _native.heap_read("heap")
    rows = struct.iter_unpack("=4q", raw["memory"])
    stacks = zip(read_stacks(raw), rows, strict=True)
    return sum(row[column] for s, row in stacks if name in {f.function for f in s.frames})


def heap_error(rounds: int) -> tuple[list[float], list[int]]:
    errors, samples = [], []
    for _ in range(rounds):
        in_use.clear()
        with count_memory():
            true = keep(100_000)
            errors.append(100 * (sum_bytes("keep", 3) / true - 1))
            samples.append(_native.heap_read("heap")["counts"]["samples"])
    return errors, samples


def delay_error(rounds: int) -> list[float]:
    errors = []
    for _ in range(rounds):
        lock, true = threading.Lock(), [0]

        def wait(lock: threading.Lock = lock, true: list[int] = true) -> None:
            for _ in range(100):
                began = time.monotonic_ns()
                with lock:
                    true[0] += time.monotonic_ns() - began
                    time.sleep(random.uniform(0, 0.004))

        _native.start("contention")
        threads = [threading.Thread(target=wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stacks = read_stacks(_native.stop())
        seen = sum(s.value for s in stacks if s.frames[0].function.endswith("wait"))
        errors.append(100 * (seen / true[0] - 1))
    return errors


def main(rounds: int) -> None:
    print(conditions())
    print(f"cost, {rounds} rounds")
    for work in (objects, documents, small_blocks, lists, large_blocks, arithmetic):
        line(f"hooks: {work.__name__}", measure_slowdown(work, count_memory, rounds))
    line("tracemalloc: objects", measure_slowdown(objects, trace_memory, max(5, rounds // 4)))
    line("tracemalloc: documents", measure_slowdown(documents, trace_memory, max(5, rounds // 4)))
    line("contention: fight for a lock", contention_slowdown(rounds))
    line("contention: a free lock", measure_slowdown(free_lock, capture_contention, rounds))
    line("contention: arithmetic", measure_slowdown(arithmetic, capture_contention, rounds))
    errors, samples = heap_error(5)
    worst = max(errors, key=abs)
    print(f"HEAP in use: error {median(errors):+.1f} % ({worst:+.1f}), {median(samples)} samples")
    errors = delay_error(5)
    print(f"CONTENTION delay: error {median(errors):+.1f} % ({max(errors, key=abs):+.1f})")


if __name__ == "__main__":
    main(*(int(n) for n in sys.argv[1:2] or ["20"]))
