"""Measure the peak memory and the CPU time of building hour and day blocks of many shapes.

Run `python -m benchmarks build_memory`. Each build runs in a process of its own; what it took
before, with its encoded sources, does not count.
"""

import ctypes
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from benchmarks.engine.block_sets import PART, make_profiles
from benchmarks.tools.table import Figure, show
from profiles.engine.blocks import BlockProfile, build_day, build_hour, open_hour
from profiles.engine.encoding.compression import FAST_COMPRESSION_LEVEL

LIMIT_MB = 150.0
DEPLOYMENTS = 10_000
SETS = {"A": (5_760, 240), "C": (480, 240)}  # profiles, and profiles an hour
_STATUS = Path("/proc/self/status")


def main() -> int:
    figures = [figure for name in SETS for figure in _measure_set(name)]
    return 0 if show("Memory of building blocks", figures) else 1


def _measure_set(name: str) -> list[Figure]:
    count, per_hour = SETS[name]
    profiles = make_profiles(name, count)
    hours: list[bytes] = []
    spread: list[bytes] = []  # the same with many deployments
    figures = list[Figure]()
    while hour := list(islice(profiles, per_hour)):
        if not hours:
            figures += _measure_hour(name, hour)
        first = len(hours) * per_hour
        hours.append(build_hour(hour))
        if name == "A":
            many = [replace(p, deployment=(first + i) % DEPLOYMENTS) for i, p in enumerate(hour)]
            spread.append(build_hour(many))
    title = f"day of {count:,} profiles of {name}"
    figures += _measure(title, lambda: build_day([open_hour(data) for data in hours]))
    if spread:
        title = f"{title} and as many deployments"
        figures += _measure(title, lambda: build_day([open_hour(data) for data in spread]))
    return figures


def _measure_hour(name: str, hour: Sequence[BlockProfile]) -> list[Figure]:
    parts = [
        build_hour(hour[first : first + PART], compression_level=FAST_COMPRESSION_LEVEL)
        for first in range(0, len(hour), PART)
    ]
    title = f"hour of {len(hour)} profiles of {name}"
    return [
        *_measure(f"{title}, from rows", lambda: build_hour(hour)),
        *_measure(
            f"{title}, from blocks of {PART}",
            lambda: build_hour([], [(open_hour(part), None) for part in parts]),
        ),
    ]


def _measure(title: str, build: Callable[[], bytes]) -> list[Figure]:
    """Return the peak memory and the CPU time of a build, which runs in a forked process."""
    results, replies = os.pipe()
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before, began = _peak_bytes(), time.process_time()
        build()
        megabytes, seconds = (_peak_bytes() - before) / 1e6, time.process_time() - began
        os.write(replies, f"{megabytes} {seconds}".encode())
        os._exit(0)
    os.close(replies)
    with os.fdopen(results) as file:
        megabytes, seconds = map(float, file.read().split())
    os.waitpid(pid, 0)
    return [
        Figure(title, megabytes, "MB more", LIMIT_MB),
        Figure("  CPU", seconds * 1e3, "ms"),
    ]


def _peak_bytes() -> int:
    lines = _STATUS.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    sys.exit(main())
