"""Measure the memory of the server's processes in uploads, their compaction, and queries.

Run `python -m benchmarks memory`: the real server on SQLite receives 6,000 profiles of shape A, of
25 hours that are past, and 480 large heap profiles (shape C) of two of these hours, so that its own
compaction makes level-0 blocks of them within a minute, and hour and day blocks after ten more.
Fifty distinct queries read the former, fifty the latter. Pages that processes share count once.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import uvloop

from benchmarks.queries.imported_profiles import offline_uploads
from benchmarks.tools.load import send_all
from benchmarks.tools.prepared import prepare
from benchmarks.tools.processes import memory_bytes, peak_memory
from benchmarks.tools.table import Figure, show
from tests.server import RunningServer, running_server

UPLOADS, LARGE_UPLOADS, QUERIES, CONNECTIONS = 6_000, 480, 50, 8
AFTERWARDS_MB, COMPACTION_MB = 300, 150  # at most; the latter above the memory before it
APART = timedelta(seconds=15)
LEVEL0_SECONDS, DAYS_SECONDS = 300.0, 1200.0
SHAPES_OF_QUERIES: list[tuple[str, dict[str, str]]] = [
    ("tree", {}),
    ("tree", {"group": "line"}),
    ("tree", {"view": "bottomup"}),
    ("tree", {"weight": "50"}),
    ("top", {}),
]
QUIET = {
    "FLAMEWATCH_POLL_TIMEOUT_SECONDS": "0.01",
    "FLAMEWATCH_PLAN_PERIOD_SECONDS": "60",
    "FLAMEWATCH_QUERIES_PER_MINUTE": "1000000",
}
HEAD = "SELECT count(*) FROM profiles_profile"
HOURS_WITHOUT_DAY = (
    "SELECT count(*) FROM profiles_block WHERE resolution = 'hour' AND day_block_id IS NULL"
)


def main() -> int:
    with running_server(**QUIET) as server:
        project = server.add_project()
        write, read = server.add_key(project), server.add_key(project, "read")
        prepare(server, project)
        pid, port = server.process.pid, urlsplit(server.url).port or 0
        figures = [_figure(server, "after: started")]
        with peak_memory(pid) as peak:
            uvloop.run(send_all(port, _uploads(project, write), CONNECTIONS))
            _wait_for_none(server, HEAD, LEVEL0_SECONDS)
        figures.append(Figure("uploads and compaction to level 0, peak", peak[0] / 1e6, "MB"))
        figures.append(_figure(server, "after: compaction to level 0"))
        _query(server, project, read, first=0)
        figures.append(_figure(server, f"after: {QUERIES} queries of level-0 blocks"))
        before = memory_bytes(pid) / 1e6
        with peak_memory(pid) as peak:
            _wait_for_none(server, HOURS_WITHOUT_DAY, DAYS_SECONDS)
        limit = before + COMPACTION_MB
        figures.append(Figure("compaction to days, peak", peak[0] / 1e6, "MB", limit))
        figures.append(_figure(server, "after: compaction to days"))
        _query(server, project, read, first=QUERIES)
        figures.append(_figure(server, f"after: {QUERIES} queries of day blocks"))
        time.sleep(65)
        figures.append(_figure(server, "after: a minute more", AFTERWARDS_MB))
    return 0 if show("Memory of the processes of the server", figures) else 1


def _uploads(project: str, key: str) -> Iterator[bytes]:
    """Yield uploads of all of one day and of the first hour of the next one."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start = midnight - timedelta(days=4)
    yield from offline_uploads(project, key, [start + i * APART for i in range(UPLOADS)])
    large = [start + i * APART for i in range(LARGE_UPLOADS)]
    yield from offline_uploads(project, key, large, "C")


def _figure(server: RunningServer, name: str, limit: float | None = None) -> Figure:
    return Figure(name, memory_bytes(server.process.pid) / 1e6, "MB", limit)


def _wait_for_none(server: RunningServer, count: str, seconds: float) -> None:
    """Wait until a statement counts nothing."""
    deadline = time.monotonic() + seconds
    with sqlite3.connect(server.data_dir / "flamewatch.sqlite3") as database:
        while database.execute(count).fetchone()[0]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"Compaction is not complete after {seconds:g} s.")
            time.sleep(1)


def _query(server: RunningServer, project: str, key: str, first: int) -> None:
    """Send QUERIES queries that differ from those of another `first`."""
    connection = HTTPConnection(urlsplit(server.url).netloc)
    for number in range(first, first + QUERIES):
        resource, shape = SHAPES_OF_QUERIES[number % len(SHAPES_OF_QUERIES)]
        words = {"service": "imported", "type": "CPU", "span": "7d", "f": f"hide:main.{number}"}
        path = f"/api/v1/projects/{project}/{resource}?{urlencode(words | shape)}"
        connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise RuntimeError(f"{response.status} {body.decode()}")
        if "weight" not in shape and json.loads(body)["profiles"] != UPLOADS:
            raise RuntimeError(f"{json.loads(body)['profiles']} profiles, not {UPLOADS}")


if __name__ == "__main__":
    sys.exit(main())
