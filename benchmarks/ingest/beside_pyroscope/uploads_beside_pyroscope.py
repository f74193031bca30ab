"""Measure the CPU time of uploads beside Grafana Pyroscope, in alternating turns.

Run `python -m benchmarks uploads_beside_pyroscope PYROSCOPE`, with the path of a Pyroscope binary.
Flamewatch on SQLite, Flamewatch on PostgreSQL and Pyroscope run at the same time, on loopback and
with their data on this disk. They receive the same profiles over HTTP in turns, as fast as each
takes them; a row of the table has the medians of the turns. CPU time is that of all processes of a
server, PostgreSQL's included and without what they use when idle.
"""

import argparse
import contextlib
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop

from benchmarks.ingest.beside_pyroscope.bodies import KINDS, ProfileKind, profiles
from benchmarks.ingest.beside_pyroscope.servers import MeasuredServer, flamewatch, pyroscope
from benchmarks.tools.load import UploadRejected, send_all
from benchmarks.tools.table import machine
from tests.services import postgresql

TURNS, CONNECTIONS, IDLE_SECONDS = 5, 64, 6.0
# A server that rejects uploads because it is busy gets the same ones again after a pause.
ATTEMPTS, PAUSE_SECONDS = 4, 10.0
AT_MOST = 1 / 3  # of Pyroscope's CPU time
# Seconds from the start of a capture to its upload, first and last of a turn.
AGES = {"just in": (12.0, 10.0), "late": (600.0, 300.0)}


@dataclass(frozen=True, slots=True)
class Workload:
    """Profiles of one kind and age."""

    kind: ProfileKind
    age: str


Costs = Mapping[str, Sequence[float]]  # CPU ms of a profile, of each turn, by server


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks uploads_beside_pyroscope")
    parser.add_argument("pyroscope", type=Path, nargs="?", help="path of a Pyroscope binary")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--only", default="", help="part of the title of a kind of profile")
    options = parser.parse_args(arguments or [])
    if options.pyroscope is None:
        print("uploads_beside_pyroscope did NOT run: it needs the path of a Pyroscope binary.")
        return 0
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="flamewatch-bench-")))
        folder.chmod(0o755)  # PostgreSQL runs under its own user
        database = stack.enter_context(postgresql(folder))
        servers: list[MeasuredServer] = [
            stack.enter_context(flamewatch("SQLite")),
            stack.enter_context(flamewatch("PostgreSQL", database)),
            stack.enter_context(pyroscope(options.pyroscope, folder)),
        ]
        run = _Run(servers)
        kinds = [kind for kind in KINDS if options.only in kind.title]
        titles = [server.title for server in servers]
        _show_heads(titles)
        is_met = True
        for workload, costs in run.measure(kinds, options.turns):
            is_met = _show(workload, costs, titles) and is_met
        run.check()
    return 0 if is_met else 1


class _Run:
    def __init__(self, servers: Sequence[MeasuredServer]) -> None:
        self._servers = servers
        self._idle = self._idle_shares()
        self._sent = 0

    def _idle_shares(self) -> Mapping[str, float]:
        """Return the share of a core that each server uses without any requests."""
        before = [server.cpu_seconds() for server in self._servers]
        time.sleep(IDLE_SECONDS)
        return {
            server.title: (server.cpu_seconds() - then) / IDLE_SECONDS
            for server, then in zip(self._servers, before, strict=True)
        }

    def measure(self, kinds: Sequence[ProfileKind], turns: int) -> Iterator[tuple[Workload, Costs]]:
        """Yield the costs of each workload; its first turn warms up and is not counted."""
        for workload in [Workload(kind, age) for kind in kinds for age in AGES]:
            costs = defaultdict[str, list[float]](list)
            for turn in range(turns + 1):
                for title, cost in self._turn(workload, turn).items():
                    if turn:
                        costs[title].append(cost)
            yield workload, costs

    def _turn(self, workload: Workload, turn: int) -> dict[str, float]:
        """Send the same profiles to each server; return the CPU ms of a profile."""
        now, count = time.time(), workload.kind.uploads
        oldest, newest = AGES[workload.age]
        step = (oldest - newest) / count
        times = [now - oldest + i * step for i in range(count)]
        bodies = profiles(workload.kind, times)
        # The order rotates, so that no server always follows the same one.
        first = turn % len(self._servers)
        costs = {}
        for server in [*self._servers[first:], *self._servers[:first]]:
            requests = server.uploads(workload.kind, times, bodies)
            costs[server.title] = self._cost(server, requests)
        self._sent += count
        return costs

    def _cost(self, server: MeasuredServer, requests: Sequence[bytes]) -> float:
        for attempt in range(ATTEMPTS):
            cpu, start = server.cpu_seconds(), time.perf_counter()
            try:
                uvloop.run(send_all(server.port, requests, CONNECTIONS))
            except UploadRejected as rejected:
                print(f"  {server.title} rejected an upload: {rejected}", flush=True)
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(PAUSE_SECONDS)
                continue
            break
        cpu, seconds = server.cpu_seconds() - cpu, time.perf_counter() - start
        return (cpu - self._idle[server.title] * seconds) / len(requests) * 1e3

    def check(self) -> None:
        for server in self._servers:
            server.check(self._sent)


def _show_heads(titles: Sequence[str]) -> None:
    print(f"\nCPU ms of the server and its database for a profile ({machine()})")
    *ours, peer = titles
    heads = [*titles, *(f"{title}/{peer}"[:20] for title in ours)]
    print(f"  {'':<38}" + "".join(f"{head:>21}" for head in heads), flush=True)


def _show(workload: Workload, costs: Costs, titles: Sequence[str]) -> bool:
    """Print the row of a workload; return False if it passes AT_MOST."""
    *ours, peer = titles
    ratios = [_ratio(costs[title], costs[peer]) for title in ours]
    texts = [_spread(costs[title]) for title in titles] + [f"{each:.2f}" for each in ratios]
    is_missed = max(ratios) > AT_MOST
    name = f"{workload.kind.title}, {workload.age}"
    columns = "".join(f"{text:>21}" for text in texts)
    print(f"  {name:<38}{columns}{'  MISSED' * is_missed}", flush=True)
    return not is_missed


def _ratio(ours: Sequence[float], peer: Sequence[float]) -> float:
    """Return the median of the ratios of each turn."""
    return statistics.median(a / b for a, b in zip(ours, peer, strict=True))


def _spread(costs: Sequence[float]) -> str:
    return f"{statistics.median(costs):.2f} ({min(costs):.2f}-{max(costs):.2f})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
