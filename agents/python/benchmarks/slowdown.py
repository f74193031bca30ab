"""What does a capture cost its host? `python benchmarks/slowdown.py [pairs] [seconds]`

The process's own CPU time for one round of the workload, with a capture against without, in
alternating windows of the same process. Other load on the machine blurs this, it doesn't bias it.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from workload import Workload

from flamewatch import _native

CASES = [  # title, kind, threads that wait
    ("CPU, 8 waiting", "cpu", 8),
    ("CPU, 100 waiting", "cpu", 100),
    ("WALL, 8 waiting", "wall", 8),
    ("WALL, 100 waiting", "wall", 100),
    ("nothing at all", "", 8),
]


def cost_of_a_round(workload: Workload, kind: str, seconds: float) -> float:
    if kind:
        _native.start("cpu" if kind == "cpu" else "wall")
    before = workload.truth()
    _native.wait(seconds)
    passed = workload.truth() - before
    if kind:
        _native.stop()
    return passed.process_cpu_ns / max(1, passed.rounds)


def ratios(workload: Workload, kind: str, pairs: int, seconds: float) -> list[float]:
    found = []
    for n in range(pairs):
        order = ("", kind) if n % 2 else (kind, "")
        costs = [cost_of_a_round(workload, which, seconds) for which in order]
        without, with_it = costs if n % 2 else costs[::-1]
        found.append(100 * (with_it / without - 1))
    return found


def interval(values: list[float]) -> tuple[float, float]:
    """95 % by bootstrap, of the median."""
    dice = random.Random(0)
    medians = sorted(median(dice.choices(values, k=len(values))) for _ in range(2_000))
    return medians[50], medians[1949]


def main(pairs: int, seconds: float) -> None:
    print(f"own CPU per unit of work while capturing at 100 Hz; {pairs} pairs of {seconds:g} s")
    for title, kind, waiting in CASES:
        workload = Workload(waiting=waiting)
        values = ratios(workload, kind, pairs, seconds)
        low, high = interval(values)
        print(f"{title:20} {median(values):+6.2f} %   [{low:+.2f} .. {high:+.2f}]", flush=True)
        workload.done.set()
    os._exit(0)  # the workload's threads wait for nothing


main(*(int(n) for n in sys.argv[1:2] or ["30"]), *(float(n) for n in sys.argv[2:3] or ["0.6"]))
