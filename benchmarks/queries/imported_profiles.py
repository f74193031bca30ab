"""Measure a flame graph of imported profiles through HTTP, from the import to the day blocks.

Run `python -m benchmarks imported_profiles`, with the options of `--help`: the real server on
SQLite receives profiles of shape A by CreateOfflineProfile, with few of each hour of many days. The
result cache is off.
"""

import argparse
import base64
import gzip
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from itertools import cycle
from urllib.parse import urlencode, urlsplit

import uvloop

from benchmarks.tools.load import request, send_all
from benchmarks.tools.prepared import prepare
from benchmarks.tools.processes import cpu_seconds
from benchmarks.tools.shapes import SHAPES, variants
from benchmarks.tools.table import Figure, show
from tests.profiles.pprof_proto import Profile
from tests.server import RunningServer, running_server

PROFILES, AN_HOUR, CONNECTIONS, ROUNDS = 5_760, 15, 8, 20
LIMIT_MS = 50
# Compaction runs every minute, and takes some seconds for so many profiles.
COMPACTED_SECONDS, QUIET_SECONDS = 65, 10
SERVICE = "imported"
ENVIRONMENT = {
    "FLAMEWATCH_POLL_TIMEOUT_SECONDS": "0.01",
    "FLAMEWATCH_PLAN_PERIOD_SECONDS": "60",
    "FLAMEWATCH_QUERIES_PER_MINUTE": "1000000",
    "FLAMEWATCH_RESULT_CACHE_BYTES": "0",
    "FLAMEWATCH_QUERY_SECONDS": "120",  # rows of an import may take longer than the default
}


@dataclass(frozen=True, slots=True)
class ImportedHours:
    profiles: int
    an_hour: int
    in_random_order: bool

    def times(self, now: datetime) -> list[datetime]:
        """Return the start times: evenly spread, up to two hours before `now`."""
        apart = timedelta(hours=1) / self.an_hour
        end = now - timedelta(hours=2)
        times = [end - (self.profiles - i) * apart for i in range(self.profiles)]
        if self.in_random_order:
            random.Random(1).shuffle(times)
        return times


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks imported_profiles")
    parser.add_argument("--profiles", type=int, default=PROFILES)
    parser.add_argument("--an-hour", type=int, default=AN_HOUR)
    parser.add_argument("--random", action="store_true", help="send them in random order")
    options = parser.parse_args(arguments or [])
    work = ImportedHours(options.profiles, options.an_hour, options.random)
    with running_server(**ENVIRONMENT) as server:
        figures = _measure(server, work)
    order = "random order" if work.in_random_order else "order of time"
    title = (
        f"Flame graph of {work.profiles:,} imported profiles, {work.an_hour} an hour, in {order}"
    )
    return 0 if show(title, figures) else 1


def _measure(server: RunningServer, work: ImportedHours) -> list[Figure]:
    project = server.add_project()
    write, read = server.add_key(project), server.add_key(project, "read")
    prepare(server, project)
    times = work.times(datetime.now(UTC))
    query = _Query(server, project, read, min(times), work.profiles)
    cpu = cpu_seconds(server.process.pid)
    uploads = offline_uploads(project, write, times)
    uvloop.run(send_all(urlsplit(server.url).port or 0, uploads, CONNECTIONS))
    cpu = cpu_seconds(server.process.pid) - cpu
    end = time.monotonic()
    figures = [
        Figure("import: CPU of the server, with compaction", cpu / work.profiles * 1e3, "ms"),
        *query.figures("just imported", rounds=1),
    ]
    time.sleep(max(0.0, end + COMPACTED_SECONDS - time.monotonic()))
    _wait_until_compacted(server)
    figures += query.figures("a minute later", limit=LIMIT_MS)
    _compact_all(server, project)
    return [*figures, *query.figures("in day blocks", limit=LIMIT_MS)]


def offline_uploads(
    project: str, key: str, times: Sequence[datetime], shape: str = "A"
) -> Iterator[bytes]:
    """Return a CreateOfflineProfile request for a profile of a shape at each time.

    The profiles are made before the first request, because the server closes connections that do
    not send one for some seconds.
    """
    bodies = cycle([_encoded(raw) for raw in variants(SHAPES[shape].variants, name=shape)])
    path = f"/v2/projects/{project}/profiles:createOffline"
    type_ = SHAPES[shape].type
    return (request("POST", path, key, _message(start, type_, next(bodies))) for start in times)


def _message(start: datetime, type_: str, encoded: str) -> dict[str, object]:
    return {
        "deployment": {"target": SERVICE},
        "profileType": type_,
        "duration": "10s",
        "startTime": start.isoformat().replace("+00:00", "Z"),
        "profileBytes": encoded,
    }


def _encoded(raw: bytes) -> str:
    """Return base64 of the gzip of a profile, without its time: that of the message counts then."""
    profile = Profile.FromString(raw)
    profile.time_nanos = 0
    return base64.b64encode(gzip.compress(profile.SerializeToString(), 1)).decode()


class _Query:
    """Flame graph of all imported profiles."""

    def __init__(
        self, server: RunningServer, project: str, key: str, start: datetime, profiles: int
    ) -> None:
        self._server, self._profiles = server, profiles
        self._headers = {"Authorization": f"Bearer {key}"}
        words = {
            "service": SERVICE,
            "type": "CPU",
            "from": start.isoformat().replace("+00:00", "Z"),
            "to": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        }
        self._path = f"/api/v1/projects/{project}/tree?{urlencode(words)}"
        self._connection = HTTPConnection(urlsplit(server.url).netloc)

    def figures(self, when: str, rounds: int = ROUNDS, limit: float | None = None) -> list[Figure]:
        self._connection.close()  # the server closes it in the minutes between two calls
        if rounds > 1:
            self._send()
        spans = []
        cpu = cpu_seconds(self._server.process.pid)
        for _ in range(rounds):
            start = time.perf_counter()
            self._send()
            spans.append(time.perf_counter() - start)
        cpu = (cpu_seconds(self._server.process.pid) - cpu) / rounds
        head, blocks = _stored(self._server)
        where = f"{head:,} rows and {blocks:,} blocks"
        return [
            Figure(f"{when}: {where}", statistics.median(spans) * 1e3, "ms", limit),
            Figure("  CPU", cpu * 1e3, "ms"),
        ]

    def _send(self) -> None:
        self._connection.request("GET", self._path, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise RuntimeError(f"{response.status} {body.decode()}")
        if (found := json.loads(body)["profiles"]) != self._profiles:
            raise RuntimeError(f"{found} profiles, not {self._profiles}")


def _stored(server: RunningServer) -> tuple[int, int]:
    """Return the number of head rows, and of blocks that a query of all profiles reads."""
    blocks = "SELECT count(*) FROM profiles_block WHERE day_block_id IS NULL"
    with sqlite3.connect(server.data_dir / "flamewatch.sqlite3") as database:
        (head,) = database.execute("SELECT count(*) FROM profiles_profile").fetchone()
        (found,) = database.execute(blocks).fetchone()
    return int(head), int(found)


def _wait_until_compacted(server: RunningServer) -> None:
    """Wait until the numbers of rows and blocks stay the same for QUIET_SECONDS."""
    before, since = _stored(server), time.monotonic()
    while time.monotonic() < since + QUIET_SECONDS:
        time.sleep(1)
        if (now := _stored(server)) != before:
            before, since = now, time.monotonic()


def _compact_all(server: RunningServer, project: str) -> None:
    """Compact all hours and days, as the server would do within two hours."""
    command = [sys.executable, "-m", "benchmarks.queries.imported_profiles", "--rollup", project]
    subprocess.run(command, env=server.environment, check=True)


def _compact_days(project_id: str) -> None:
    import django  # noqa: PLC0415  configured by the environment

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
    django.setup()
    from profiles.compaction.compactor import Compactor  # noqa: PLC0415
    from projects.models import Project  # noqa: PLC0415

    project = Project.objects.get(project_id=project_id).pk
    later = datetime.now(UTC) + timedelta(days=1, hours=2)
    Compactor(project, later).build_level1()
    Compactor(project, later).build_level2()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rollup"]:
        _compact_days(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1:]))
