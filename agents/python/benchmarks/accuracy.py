"""Accuracy of shares: `python benchmarks/accuracy.py [rounds] [seconds] [row]`

Error: half the sum of the differences between the reported and the true share of each function
(total-variation distance), in percentage points. Total: the reported sum compared with the true
one. The profilers take turns, each time in a process of its own, so that all run under the same
conditions.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from statistics import median

from apart import measure_apart, print_result
from peers import Kind, Seen, conditions, list_installed_peers, start_peer
from workload import FUNCTIONS, Workload

NAMES = [function.__name__ for function in FUNCTIONS]
CASES: list[tuple[str, Kind, int, bool]] = [  # title, kind, cores, with NumPy
    ("CPU, 2 cores", "cpu", 2, False),
    ("CPU, 2 cores + NumPy", "cpu", 2, True),
    ("CPU, 1 core", "cpu", 1, False),
    ("WALL, 2 cores", "wall", 2, False),
    ("WALL, 1 core", "wall", 1, False),
]


def error_points(seen: Seen, true: Seen) -> float:
    seen_sum, true_sum = max(1, sum(seen.values())), max(1, sum(true.values()))
    return 50 * sum(abs(seen[name] / seen_sum - true[name] / true_sum) for name in NAMES)


def measure(name: str, kind: Kind, cores: int, numpy: bool, seconds: float) -> dict[str, float]:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    workload = Workload(numpy=numpy)
    with start_peer(name, kind) as peer:
        peer.start(seconds)
        before = workload.truth()
        time.sleep(seconds)
        passed = workload.truth() - before
        peer.stop()
        seen = peer.seen(NAMES)
    true = passed.cpu if kind == "cpu" else passed.wall
    total = 100 * (sum(seen.values()) / sum(true.values()) - 1)
    return {"error": error_points(seen, true), "total": total}


def cell(runs: list[dict[str, float]]) -> str:
    """Format the medians and the worst error."""
    if not all(runs):
        return "failed"
    errors, totals = [run["error"] for run in runs], [run["total"] for run in runs]
    return f"{median(errors):.1f} ({max(errors):.1f}), {median(totals):+.1f} %"


def print_row(title: str, kind: Kind, cores: int, numpy: bool, rounds: int, seconds: float) -> None:
    runs = defaultdict(list)
    for _ in range(rounds):
        for peer in list_installed_peers(kind):
            run = measure_apart(__file__, peer.name, kind, cores, int(numpy), seconds)
            runs[peer.name].append(run)
    columns = [cell(runs[p.name]) if p.name in runs else "–" for p in list_installed_peers("cpu")]
    print(f"| {title} | {' | '.join(columns)} |", flush=True)


def main(rounds: int, seconds: float, only: str) -> None:
    names = [peer.name for peer in list_installed_peers("cpu")]
    print(f"{conditions()}; {rounds} rounds of {seconds:g} s at 100 Hz")
    print("Error in points: median (worst); the total's error: median.\n")
    print(f"| | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}")
    for title, *case in CASES:
        if only in ("", title):
            print_row(title, *case, rounds, seconds)  # type: ignore[arg-type]


if __name__ == "__main__":
    if sys.argv[1:2] == ["case"]:
        name, kind, cores, numpy, seconds = sys.argv[2:]
        print_result(measure(name, kind, int(cores), numpy == "1", float(seconds)))  # type: ignore[arg-type]
    rounds, seconds, only = [*sys.argv[1:], *("5", "10", "")[len(sys.argv) - 1 :]]
    main(int(rounds), float(seconds), only)
