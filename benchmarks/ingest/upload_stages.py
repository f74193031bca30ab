"""Measure where the server's CPU time for uploads goes, and how long they take.

Run `python -m benchmarks upload_stages [CHECKOUT …]`: small and Go CPU profiles on 4 and on 48
connections, in alternating rounds of a server of each checkout, by default of this one. CPU time is
that of the server's threads, so that other programs on the machine distort it less than wall time.
A thread that waits for another one is a voluntary context switch: the number of switches tells how
often an upload is handed over.
"""

import argparse
import contextlib
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

from benchmarks.ingest.cost.sending import at_once
from benchmarks.ingest.cost.upload import Uploads
from benchmarks.tools.prepared import prepare
from benchmarks.tools.processes import ThreadUsage, thread_usage
from benchmarks.tools.shapes import SHAPES
from benchmarks.tools.table import machine
from tests.server import RunningServer, server_in

WORKLOADS = {"D": "small, 100 samples", "A": "Go CPU, 139 kB"}
CONNECTIONS = (4, 48)
ROUNDS, ROUND_SECONDS, MAX_NAMES = 5, 4.0, 120_000
QUIET = {"FLAMEWATCH_POLL_TIMEOUT_SECONDS": "0.01", "FLAMEWATCH_PLAN_PERIOD_SECONDS": "3600"}


@dataclass(frozen=True, slots=True)
class Round:
    """Cost of an upload in one round, in ms and context switches."""

    loop_ms: float  # CPU time of the event loop's thread
    other_ms: float  # CPU time of all other threads
    switches: float
    uploads_per_second: float
    acknowledged: list[float]  # ms of each upload


class _Server:
    def __init__(self, server: RunningServer) -> None:
        self._port = urlsplit(server.url).port or 0
        self._pid = server.process.pid
        project = server.add_project()
        key = server.add_key(project)
        types = [SHAPES[shape].type for shape in WORKLOADS]
        names = prepare(server, project, MAX_NAMES, types=types).names
        self._uploads = {
            shape: Uploads(shape, project, key, names[index :: len(types)])
            for index, shape in enumerate(WORKLOADS)
        }

    def measure(self, shape: str, connections: int) -> Round:
        before, start = thread_usage(self._pid), time.perf_counter()
        sent = uvloop.run(at_once(self._port, self._uploads[shape], connections, ROUND_SECONDS))
        seconds, after = time.perf_counter() - start, thread_usage(self._pid)
        used = {tid: usage - before.get(tid, ThreadUsage()) for tid, usage in after.items()}
        loop = used.pop(self._pid)
        others = sum(usage.cpu_seconds for usage in used.values())
        switches = loop.switches + sum(usage.switches for usage in used.values())
        count = len(sent)
        return Round(
            loop_ms=loop.cpu_seconds / count * 1e3,
            other_ms=others / count * 1e3,
            switches=switches / count,
            uploads_per_second=count / seconds,
            acknowledged=[each * 1e3 for each in sent],
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks upload_stages")
    parser.add_argument("checkouts", type=Path, nargs="*", default=[Path()])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments or [])
    with contextlib.ExitStack() as stack:
        servers = {
            f"{path.resolve()}": stack.enter_context(_running(path)) for path in options.checkouts
        }
        print(f"\nAn upload, medians of {options.rounds} rounds ({machine()})")
        print(f"  {'':<34}{'CPU ms':>8}{'loop':>7}{'other':>7}{'switches':>10}", end="")
        print(f"{'a second':>10}{'p50 ms':>8}{'p99 ms':>8}", flush=True)
        for shape, title in WORKLOADS.items():
            for connections in CONNECTIONS:
                rounds = defaultdict[str, list[Round]](list)
                for number in range(options.rounds + 1):
                    for name, server in servers.items():
                        measured = server.measure(shape, connections)
                        if number:  # the first one warms up
                            rounds[name].append(measured)
                for name, measurements in rounds.items():
                    _show(f"{title}, {connections} connections", measurements)
                    if len(servers) > 1:
                        print(f"    {name}", flush=True)
    return 0


@contextlib.contextmanager
def _running(checkout: Path) -> Iterator[_Server]:
    with (
        tempfile.TemporaryDirectory(prefix="flamewatch-bench-") as folder,
        server_in(Path(folder), checkout=checkout.resolve(), **QUIET) as server,
    ):
        yield _Server(server)


def _show(title: str, rounds: Sequence[Round]) -> None:
    loop = statistics.median(each.loop_ms for each in rounds)
    other = statistics.median(each.other_ms for each in rounds)
    both = statistics.median(each.loop_ms + each.other_ms for each in rounds)
    switches = statistics.median(each.switches for each in rounds)
    rate = statistics.median(each.uploads_per_second for each in rounds)
    waits = statistics.quantiles([ms for each in rounds for ms in each.acknowledged], n=100)
    print(f"  {title:<34}{both:>8.2f}{loop:>7.2f}{other:>7.2f}{switches:>10.1f}", end="")
    print(f"{rate:>10.0f}{waits[49]:>8.1f}{waits[98]:>8.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
