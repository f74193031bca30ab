"""Measure from outside the server's CPU time for uploads and handshakes.

Run `python -m benchmarks uploads`: the real server on loopback, with its database on this disk.
"""

import base64
import sys
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import uvloop

from benchmarks.queries.imported_profiles import offline_uploads
from benchmarks.tools.go_profile import go_profile
from benchmarks.tools.load import idle_share, request, send_all
from benchmarks.tools.prepared import prepare
from benchmarks.tools.processes import cpu_seconds
from benchmarks.tools.table import Figure, show
from tests.server import RunningServer, running_server

UPLOADS, ALONE, LATE, LARGE, HANDSHAKES, WARM_UP, CONNECTIONS = 3000, 750, 1500, 250, 6000, 300, 8
QUIET = {"FLAMEWATCH_POLL_TIMEOUT_SECONDS": "0.01", "FLAMEWATCH_PLAN_PERIOD_SECONDS": "60"}


def main() -> int:
    with running_server(**QUIET) as server:
        project = server.add_project()
        key = server.add_key(project)
        prepared = prepare(server, project, names=UPLOADS + ALONE + 2 * WARM_UP)
        uploads = [upload(project, key, name) for name in prepared.names]
        first = UPLOADS + WARM_UP
        hello = handshake(project, key, *prepared.agents[0])
        hellos = [hello] * (WARM_UP + HANDSHAKES)
        figures = [
            # First, because compaction of the uploads would be counted with them.
            *measure(server, "handshake, registered agent", hellos, CONNECTIONS),
            *measure(server, "upload", uploads[:first], CONNECTIONS, limit=3.0),
            *measure(server, "upload, one after the other", uploads[first:], 1),
            *measure(server, "upload, five minutes late", late_uploads(server), CONNECTIONS),
            *measure(server, "upload, large heap", large_uploads(server), CONNECTIONS),
        ]
    return 0 if show(f"Uploads of {len(go_profile()) / 1000:.0f} kB of gzip", figures) else 1


def late_uploads(server: RunningServer) -> list[bytes]:
    """Return uploads of another project under names that were issued five to ten minutes ago."""
    project = server.add_project("Late Shop", "bob@example.org")
    key = server.add_key(project)
    names = prepare(server, project, names=LATE + WARM_UP, ago=600).names
    return [upload(project, key, name) for name in names]


def large_uploads(server: RunningServer) -> list[bytes]:
    """Return uploads of heap profiles of 0.7 MB (shape C), of another project."""
    project = server.add_project("Large Shop", "carol@example.org")
    key = server.add_key(project)
    start = datetime.now(UTC) - timedelta(hours=2)
    times = [start + i * timedelta(seconds=5) for i in range(WARM_UP + LARGE)]
    return list(offline_uploads(project, key, times, "C"))


def upload(project: str, key: str, name: str) -> bytes:
    """Build an upload; the same bytes under different names are different profiles."""
    message = {
        "profileType": "CPU",
        "duration": "10s",
        "labels": {"instance": "web-1"},
        "profileBytes": _ENCODED,
    }
    return request("PATCH", f"/v2/projects/{project}/profiles/{name}", key, message)


_ENCODED = base64.b64encode(go_profile()).decode()


def handshake(project: str, key: str, service: str, agent: str) -> bytes:
    message = {"deployment": {"target": service}, "profileType": ["CPU"]}
    path = f"/v2/projects/{project}/profiles"
    return request("POST", path, key, message, f"X-Flamewatch-Agent: {agent}")


def measure(
    server: RunningServer,
    what: str,
    requests: list[bytes],
    connections: int,
    limit: float | None = None,
) -> list[Figure]:
    port = urlsplit(server.url).port or 0
    pid = server.process.pid
    uvloop.run(send_all(port, requests[:WARM_UP], connections))
    idle = idle_share(pid)
    cpu, wall = cpu_seconds(pid), time.perf_counter()
    uvloop.run(send_all(port, requests[WARM_UP:], connections))
    cpu, wall = cpu_seconds(pid) - cpu, time.perf_counter() - wall
    count = len(requests) - WARM_UP
    return [
        Figure(f"{what}: CPU", (cpu - idle * wall) / count * 1000, "ms", limit),
        Figure(f"{what}: {connections} connections", count / wall, "a second"),
    ]


if __name__ == "__main__":
    sys.exit(main())
