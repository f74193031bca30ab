"""Measure HTTP query latency with a server process, PostgreSQL, Redis and a file blob store.

Run `python -m benchmarks query_latency`, with the options of `--help`.

The data sets are created in FOLDER and stay there for the next run; without `--folder` they go into
a temporary folder. The page cache is warm and the result cache is not used. The block cache has its
usual size (FLAMEWATCH_BLOCK_CACHE_BYTES), so a query finds the blocks that the previous one has
decoded; with `--no-block-cache` every query reads its blocks from the files. The "just in" profiles
were stored while compaction ran every minute, and stay in the state of that moment; the "all in the
head" profiles were never compacted. No compaction runs during the measurement.
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.queries.latency.queries import MeasuredQuery, queries
from benchmarks.queries.latency.sizes import Sizes
from benchmarks.tools.processes import cpu_seconds
from benchmarks.tools.table import Figure, show
from tests.server import RunningServer, running_server
from tests.services import postgresql, redis

SECONDS = 4.0  # upper limit of the time spent on one query
STATE = "filled.json"
OURS = {"FLAMEWATCH_QUERIES_PER_MINUTE": "1000000", "FLAMEWATCH_RESULT_CACHE_BYTES": "0"}


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments or [])
    with contextlib.ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)  # PostgreSQL runs under its own user
        environment = {
            "DATABASE_URL": stack.enter_context(postgresql(folder)),
            "REDIS_URL": stack.enter_context(redis(folder)),
            "BLOB_URL": f"file://{folder}/blobs",
        }
        if options.no_block_cache:
            environment["FLAMEWATCH_BLOCK_CACHE_BYTES"] = "0"
        server = stack.enter_context(running_server(**OURS, **environment))
        sizes = Sizes(a_days=options.a_days, d_days=options.d_days)
        client = QueryClient(server, folder, *_filled(server, folder, sizes))
        figures = [
            figure
            for query in queries(sizes)
            if options.only in query.name
            for figure in client.measured(query, options.rounds)
        ]
    return (
        0 if show("Queries through HTTP, wall (median) and CPU with PostgreSQL's", figures) else 1
    )


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks query_latency")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", default="", help="part of a query's name")
    parser.add_argument(
        "--no-block-cache",
        "--unkept",  # deprecated name
        action="store_true",
        help="read blocks for each query",
    )
    parser.add_argument("--a-days", type=int, default=Sizes().a_days)
    parser.add_argument("--d-days", type=int, default=Sizes().d_days)
    return parser.parse_args(arguments)


def _filled(server: RunningServer, folder: Path, sizes: Sizes) -> tuple[str, str]:
    """Return (project, key), after creating the data sets if the folder does not have them."""
    state = folder / STATE
    if not state.exists():
        project = server.add_project()
        key = server.add_key(project, "read")
        command = [sys.executable, "-m", "benchmarks.queries.latency.sets", project]
        start = time.monotonic()
        subprocess.run([*command, json.dumps(asdict(sizes))], env=server.environment, check=True)
        print(f"The sets took {time.monotonic() - start:.0f} s.")
        state.write_text(json.dumps({"project": project, "key": key, "sizes": asdict(sizes)}))
    stored = json.loads(state.read_text())
    if stored["sizes"] != asdict(sizes):
        raise SystemExit(f"{folder} has sets of other sizes: {stored['sizes']}")
    return stored["project"], stored["key"]


class QueryClient:
    """HTTP client with an API key that measures queries."""

    def __init__(self, server: RunningServer, folder: Path, project: str, key: str) -> None:
        self._server = server
        self._folder = folder
        self._headers = {"Authorization": f"Bearer {key}"}
        self._path = f"/api/v1/projects/{project}/"
        self._connection = HTTPConnection(urlsplit(server.url).netloc)

    def measured(self, query: MeasuredQuery, rounds: int) -> list[Figure]:
        body = self._response_to(query)
        if query.profiles is not None:
            found = json.loads(body)["profiles"]
            if found != query.profiles:
                raise RuntimeError(f"{query.name}: {found} profiles, not {query.profiles}")
        spans: list[float] = []
        cpu, until = self._cpu(), time.monotonic() + SECONDS
        while len(spans) < rounds and time.monotonic() < until:
            start = time.perf_counter()
            self._response_to(query)
            spans.append(time.perf_counter() - start)
        cpu = (self._cpu() - cpu) / len(spans)
        wall = statistics.median(spans) * 1e3
        return [
            Figure(query.name, wall, "ms", query.limit, query.peers, query.aim),
            Figure(f"  CPU; {len(body) / 1e3:,.0f} kB", cpu * 1e3, "ms"),
        ]

    def _response_to(self, query: MeasuredQuery) -> bytes:
        self._connection.request("GET", self._path + query.path, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise RuntimeError(f"{query.name}: {response.status} {body.decode()}")
        return body

    def _cpu(self) -> float:
        database = (self._folder / "postgresql" / "postmaster.pid").read_text().split()[0]
        return cpu_seconds(self._server.process.pid) + cpu_seconds(int(database))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
