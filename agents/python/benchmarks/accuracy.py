"""How true are the shares? `python benchmarks/accuracy.py [rounds] [seconds]`

Error: half the sum of the differences between the reported and the true share of each function
(total-variation distance), in percentage points. Total: the reported sum against the true one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from workload import FUNCTIONS, Workload

from flamewatch import _native
from flamewatch.stacks import Stack, read_stacks

NAMES = [function.__name__ for function in FUNCTIONS]
CASES = [  # title, kind, cores, with NumPy
    ("CPU, 2 cores", "cpu", 2, False),
    ("CPU, 2 cores + NumPy", "cpu", 2, True),
    ("CPU, 1 core", "cpu", 1, False),
    ("WALL, 2 cores", "wall", 2, False),
    ("WALL, 1 core", "wall", 1, False),
]


def by_function(stacks: list[Stack]) -> dict[str, int]:
    values = dict.fromkeys(NAMES, 0)
    for stack in stacks:
        name = next((f.function for f in stack.frames if f.function in values), None)
        if name:
            values[name] += stack.value
    return values


def error_points(seen: dict[str, int], true: dict[str, int]) -> float:
    seen_sum, true_sum = max(1, sum(seen.values())), max(1, sum(true.values()))
    return 50 * sum(abs(seen[name] / seen_sum - true[name] / true_sum) for name in NAMES)


def measure(kind: str, cores: int, numpy: bool, seconds: float) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    workload = Workload(numpy=numpy)
    before = workload.truth()
    _native.start("cpu" if kind == "cpu" else "wall")
    _native.wait(seconds)
    raw = _native.stop()
    passed = workload.truth() - before
    true = passed.cpu if kind == "cpu" else passed.wall
    seen = by_function(read_stacks(raw))
    counts = raw["counts"]
    result = {
        "error": error_points(seen, true),
        "total": 100 * (sum(seen.values()) / sum(true.values()) - 1),
        "samples": counts["samples"],
        "torn": counts["torn"],
        "sampler": 100 * raw["sampler_cpu_ns"] / raw["duration_ns"],
    }
    print(json.dumps(result), flush=True)
    os._exit(0)  # the workload's threads wait for nothing


def measured(kind: str, cores: int, numpy: bool, seconds: float) -> dict[str, float]:
    command = [sys.executable, __file__, "case", kind, str(cores), str(int(numpy)), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main(rounds: int, seconds: float) -> None:
    print(f"{rounds} rounds of {seconds:g} s at 100 Hz; median (worst)")
    print(f"{'':22} {'error, points':>16} {'total, %':>18} {'samples':>8} {'torn':>5} sampler, %")
    for title, kind, cores, numpy in CASES:
        runs = [measured(kind, cores, numpy, seconds) for _ in range(rounds)]
        errors, totals = [run["error"] for run in runs], [run["total"] for run in runs]
        worst = max(totals, key=abs)
        print(
            f"{title:22} {median(errors):8.1f} ({max(errors):5.1f}) {median(totals):+10.1f}"
            f" ({worst:+5.1f}) {median(r['samples'] for r in runs):8.0f}"
            f" {sum(r['torn'] for r in runs):5.0f} {median(r['sampler'] for r in runs):10.2f}",
            flush=True,
        )


if sys.argv[1:2] == ["case"]:
    measure(sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1", float(sys.argv[5]))
else:
    main(*(int(n) for n in sys.argv[1:2] or ["5"]), *(float(n) for n in sys.argv[2:3] or ["10"]))
