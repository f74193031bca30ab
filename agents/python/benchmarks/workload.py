"""Workload that measures the true CPU and wall time of each of its functions.

One thread runs pure Python loops and calls, a C call that holds the GIL and one that releases it;
others wait at the end of a chain of calls; one may multiply matrices with NumPy all the time.
"""

from __future__ import annotations

import hashlib
import os
import queue
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

NUMBERS = [random.Random(1).random() for _ in range(12_000)]
BYTES = bytes(range(256)) * 1024


def python_loop() -> None:
    x = 0
    for i in range(20_000):
        x += i * i & 255


def add_one(x: int) -> int:
    return x + 1


def python_calls() -> None:
    x = 0
    for _ in range(12_000):
        x = add_one(x)


def holds_the_gil() -> None:
    sorted(NUMBERS[:5_000])


def releases_the_gil() -> None:
    hashlib.sha256(BYTES).digest()


FUNCTIONS: tuple[Callable[[], None], ...] = (
    python_loop,
    python_calls,
    holds_the_gil,
    releases_the_gil,
)


@dataclass(frozen=True, slots=True)
class Truth:
    """Nanoseconds by function since the workload began, and the CPU time of the whole process."""

    cpu: dict[str, int]
    wall: dict[str, int]
    rounds: int
    process_cpu_ns: int

    def __sub__(self, earlier: Truth) -> Truth:
        return Truth(
            {name: value - earlier.cpu[name] for name, value in self.cpu.items()},
            {name: value - earlier.wall[name] for name, value in self.wall.items()},
            self.rounds - earlier.rounds,
            self.process_cpu_ns - earlier.process_cpu_ns,
        )


class Workload:
    def __init__(self, *, waiting: int = 8, depth: int = 20, numpy: bool = False) -> None:
        self.done = threading.Event()
        self.cpu = {function.__name__: 0 for function in FUNCTIONS}
        self.wall = dict(self.cpu)
        self.rounds = 0
        self.pair = socket.socketpair()
        self.queue: queue.Queue[None] = queue.Queue()
        waits: tuple[Callable[[], object], ...] = (
            self.done.wait,
            lambda: self.pair[0].recv(1),
            self.queue.get,
        )
        self._start(self._work)
        for n in range(waiting):
            self._start(partial(self._wait, depth, waits[n % len(waits)]))
        if numpy:
            self._start(self._multiply)
        time.sleep(0.3)

    def _start(self, target: Callable[[], object]) -> None:
        threading.Thread(target=target, daemon=True).start()

    def _wait(self, depth: int, wait: Callable[[], object]) -> None:
        if depth:
            self._wait(depth - 1, wait)
        else:
            wait()

    def _work(self) -> None:
        cpu, wall = time.thread_time_ns, time.perf_counter_ns
        while not self.done.is_set():
            for function in FUNCTIONS:
                # The wall clock is read inside: reading the CPU clock is a system call, where the
                # thread may lose its core.
                cpu_before = cpu()
                wall_before = wall()
                function()
                wall_after = wall()
                self.cpu[function.__name__] += cpu() - cpu_before
                self.wall[function.__name__] += wall_after - wall_before
            self.rounds += 1

    def _multiply(self) -> None:
        import numpy  # noqa: PLC0415

        matrix = numpy.random.rand(300, 300)
        while not self.done.is_set():
            matrix.dot(matrix)

    def truth(self) -> Truth:
        return Truth(dict(self.cpu), dict(self.wall), self.rounds, time.process_time_ns())
