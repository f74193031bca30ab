"""Measure the server's resident memory after uploads, their compaction, and queries.

Run `python -m benchmarks.memory`: the real server on SQLite receives 6,000 profiles of shape A that
were requested up to 50 minutes ago, so that compaction takes all of them within a minute.
"""

import json
import sqlite3
import sys
import time
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import uvloop

from benchmarks.ingest.upload import Uploads
from benchmarks.load import resident_bytes, send_all
from benchmarks.prepared import prepare
from benchmarks.table import Figure, show
from tests.server import RunningServer, running_server

UPLOADS, QUERIES, CONNECTIONS, LIMIT_MB = 6_000, 50, 8, 400
AGO_SECONDS = 3_000
LEFT = 15  # rows of each of the two hours that may stay rows
SHAPES_OF_QUERIES: list[tuple[str, dict[str, str]]] = [
    ("tree", {}),
    ("tree", {"group": "line"}),
    ("tree", {"view": "bottomup"}),
    ("tree", {"weight": "50"}),
    ("top", {}),
]
QUIET = {
    "FLAMEWATCH_POLL_TIMEOUT_SECONDS": "0",
    "FLAMEWATCH_PLAN_PERIOD_SECONDS": "60",
    "FLAMEWATCH_QUERIES_PER_MINUTE": "1000000",
}


def main() -> int:
    with running_server(**QUIET) as server:
        project = server.add_project()
        write, read = server.add_key(project), server.add_key(project, "read")
        names = prepare(server, project, names=UPLOADS, ago=AGO_SECONDS).names
        figures = [_figure(server, "started")]
        uploads = list(Uploads("A", project, write, names))
        uvloop.run(send_all(urlsplit(server.url).port or 0, uploads, CONNECTIONS))
        figures.append(_figure(server, f"{UPLOADS:,} uploads"))
        _wait_for_compaction(server)
        figures.append(_figure(server, "compaction"))
        _query(server, project, read)
        figures.append(_figure(server, f"{QUERIES} queries"))
        time.sleep(65)
        figures.append(_figure(server, "a minute later", LIMIT_MB))
    return 0 if show("Resident memory of the server", figures) else 1


def _figure(server: RunningServer, after: str, limit: float | None = None) -> Figure:
    return Figure(f"after: {after}", resident_bytes(server.process.pid) / 1e6, "MB", limit)


def _wait_for_compaction(server: RunningServer, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    with sqlite3.connect(server.data_dir / "flamewatch.sqlite3") as database:
        while database.execute("SELECT count(*) FROM profiles_profile").fetchone()[0] > 2 * LEFT:
            if time.monotonic() > deadline:
                raise RuntimeError(f"Profiles are still rows after {seconds:g} s.")
            time.sleep(1)


def _query(server: RunningServer, project: str, key: str) -> None:
    connection = HTTPConnection(urlsplit(server.url).netloc)
    for number in range(QUERIES):
        resource, shape = SHAPES_OF_QUERIES[number % len(SHAPES_OF_QUERIES)]
        words = {"service": "service-0", "type": "CPU", "span": "2h", "f": f"hide:main.{number}"}
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
