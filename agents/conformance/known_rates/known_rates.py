"""Print what functions used in total, for comparison with profiles."""

import random
import sys
import threading
import time
from collections.abc import Callable

import flamewatch

PARKED_THREADS = 7
BLOCK_BYTES = 100_000
LIVE_BLOCKS = 1000
counts = {"cpu": 0, "wall": 0, "allocated": 0, "live": 0, "delay": 0, "threads": PARKED_THREADS}
delays = [0, 0]
lock = threading.Lock()
never = threading.Lock()
live: list[bytes] = [b""] * LIVE_BLOCKS


def pause(most: float) -> None:
    time.sleep(random.random() * most)  # never in step with a sampler


def burn() -> None:
    start = time.thread_time_ns()
    total = 0.0
    for number in range(50_000):
        total += number * 1.000001
    counts["cpu"] += time.thread_time_ns() - start
    pause(0.004)


def wait_here() -> None:
    start = time.monotonic_ns()
    pause(0.04)
    counts["wall"] += time.monotonic_ns() - start


def allocate_some() -> None:
    for _ in range(5):
        allocate()
    pause(0.005)


def allocate() -> None:
    block = bytes(BLOCK_BYTES)
    counts["allocated"] += sys.getsizeof(block)


def retain(index: int) -> None:
    live[index] = bytes(BLOCK_BYTES)


def replace_some() -> None:
    """Replace live blocks, so that the samples of two captures are of different blocks."""
    for _ in range(5):
        retain(random.randrange(LIVE_BLOCKS))
    pause(0.005)


def hold(number: int) -> None:
    start = time.monotonic_ns()
    with lock:
        delays[number] += time.monotonic_ns() - start
        time.sleep(0.002 + random.random() * 0.006)
    counts["delay"] = sum(delays)


def park() -> None:
    never.acquire()


def repeat(job: Callable[[], None]) -> None:
    while True:
        job()


def main() -> None:
    flamewatch.start(heap="start")
    for index in range(LIVE_BLOCKS):
        retain(index)
    counts["live"] = sum(map(sys.getsizeof, live))
    never.acquire()
    jobs = [burn, wait_here, allocate_some, replace_some, lambda: hold(0), lambda: hold(1)]
    for job in [*jobs, *[park] * PARKED_THREADS]:
        threading.Thread(target=repeat, args=(job,), daemon=True).start()
    while True:
        fields = [f"{name}={value}" for name, value in counts.items()]
        print("rates", f"time={time.time_ns()}", *fields, flush=True)
        time.sleep(0.005)


if __name__ == "__main__":
    main()
