"""Cost of a capture for its host: `python benchmarks/slowdown.py [pairs] [seconds] [row]`

CPU time of the process itself (not wall time) for one round of the workload, with a capture at 100
Hz and without, in alternating windows of the same process, so that drift affects both. Other load
on the machine adds noise but no bias. A profiler in another process uses CPU time there, which is
reported separately.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

from apart import measure_apart, print_result
from peers import HERE, Kind, Peer, conditions, list_installed_peers, start_peer
from workload import Workload

CASES: list[tuple[str, Kind, int]] = [  # title, kind, waiting threads
    ("CPU, 8 waiting", "cpu", 8),
    ("CPU, 100 waiting", "cpu", 100),
    ("WALL, 8 waiting", "wall", 8),
    ("WALL, 100 waiting", "wall", 100),
]


def cost_of_a_round(workload: Workload, seconds: float) -> float:
    before = workload.truth()
    time.sleep(seconds)
    passed = workload.truth() - before
    return passed.process_cpu_ns / max(1, passed.rounds)


def with_capture(workload: Workload, peer: Peer, seconds: float) -> float:
    peer.start(seconds + 0.1)
    time.sleep(0.05)
    cost = cost_of_a_round(workload, seconds)
    peer.stop()
    return cost


def ratios(workload: Workload, peer: Peer, pairs: int, seconds: float) -> list[float]:
    """Return the extra cost of a capture in percent for each pair; the order alternates."""
    with_it: Callable[[], float] = lambda: with_capture(workload, peer, seconds)  # noqa: E731
    without: Callable[[], float] = lambda: cost_of_a_round(workload, seconds)  # noqa: E731
    found = []
    for n in range(pairs):
        if n % 2:
            base, cost = without(), with_it()
        else:
            cost, base = with_it(), without()
        found.append(100 * (cost / base - 1))
    return found


def interval(values: list[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median, by bootstrap."""
    dice = random.Random(0)
    medians = sorted(median(dice.choices(values, k=len(values))) for _ in range(2_000))
    return medians[50], medians[1949]


def measure(name: str, kind: Kind, waiting: int, pairs: int, seconds: float) -> dict[str, object]:
    workload = Workload(waiting=waiting)
    with start_peer(name, kind) as peer:
        peer.start(0.2)  # one-time work of the first capture
        time.sleep(0.2)
        peer.stop()
        peer.beside_ns = 0
        values = ratios(workload, peer, pairs, seconds)
        beside = peer.beside_ns / 1e9 / (pairs * (seconds + 0.05))
    return {"values": values, "beside": beside}


def cell(name: str, kind: Kind, waiting: int, pairs: int, seconds: float) -> str:
    result = measure_apart(__file__, name, kind, waiting, pairs, seconds)
    if not result:
        return "failed"
    low, high = interval(result["values"])
    beside = f", and {100 * result['beside']:.0f} % of a core beside" * (result["beside"] > 0)
    return f"{median(result['values']):+.1f} % [{low:+.1f} … {high:+.1f}]{beside}"


def print_row(title: str, kind: Kind, waiting: int, pairs: int, seconds: float) -> None:
    """Measure a case, and print its row; its columns are those of the header, in `main`."""
    installed = {peer.name for peer in list_installed_peers(kind)}
    names = [peer.name for peer in list_installed_peers("cpu")]
    columns = [
        cell(name, kind, waiting, pairs, seconds) if name in installed else "–" for name in names
    ]
    print(f"| {title} | {' | '.join(columns)} |", flush=True)


IDLE = """
import sys, time
sys.path.insert(0, {source!r})
import flamewatch
if {is_profiled}:
    flamewatch.start(service="idle", key="k" * 40, url="http://127.0.0.1:{port}")
time.sleep(2)
began = time.process_time_ns()
time.sleep({seconds})
print(time.process_time_ns() - began)
flamewatch.stop()
"""


def outside_a_capture(seconds: float) -> str:
    """Return the share of a core that the agent uses in a sleeping host without captures."""
    receiving_server = [sys.executable, str(HERE / "receiving_server.py"), "/tmp"]
    with subprocess.Popen(receiving_server, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        port = int(server.stdout.readline())
        used = []
        for is_profiled in (False, True):
            program = IDLE.format(
                source=str(HERE.parent / "src"),
                is_profiled=is_profiled,
                port=port,
                seconds=seconds,
            )
            done = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, text=True, check=True
            )
            used.append(int(done.stdout))
        server.kill()
    return f"{100 * (used[1] - used[0]) / 1e9 / seconds:.4f} % of a core"


def main(pairs: int, seconds: float, only: str) -> None:
    names = [peer.name for peer in list_installed_peers("cpu")]
    print(f"{conditions()}; {pairs} pairs of {seconds:g} s")
    print("More CPU time of its own per round of work: median [95 %].\n")
    print(f"| | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}")
    for title, *case in CASES:
        if only in ("", title):
            print_row(title, *case, pairs, seconds)  # type: ignore[arg-type]
    if only in ("", "outside a capture"):
        print(f"\nOutside a capture, {20} s: {outside_a_capture(20)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["case"]:
        name, kind, waiting, pairs, seconds = sys.argv[2:]
        print_result(measure(name, kind, int(waiting), int(pairs), float(seconds)))  # type: ignore[arg-type]
    pairs, seconds, only = [*sys.argv[1:], *("20", "0.6", "")[len(sys.argv) - 1 :]]
    main(int(pairs), float(seconds), only)
