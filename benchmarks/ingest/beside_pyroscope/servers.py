"""Servers under measurement: Flamewatch on two databases, and Pyroscope."""

import contextlib
import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from benchmarks.ingest.beside_pyroscope.bodies import (
    ProfileKind,
    flamewatch_upload,
    pyroscope_upload,
)
from benchmarks.tools import processes
from benchmarks.tools.prepared import prepare
from tests.server import RunningServer, running_server
from tests.services import free_port

QUIET = {"FLAMEWATCH_POLL_TIMEOUT_SECONDS": "0.01", "FLAMEWATCH_PLAN_PERIOD_SECONDS": "60"}
START_SECONDS = 120


class MeasuredServer(Protocol):
    title: str
    port: int

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of the server's processes, with its database's, so far."""

    def uploads(
        self, kind: ProfileKind, times: Sequence[float], bodies: Sequence[bytes]
    ) -> list[bytes]:
        """Return one request for each profile; `times` are Unix times in seconds."""

    def check(self, sent: int) -> None:
        """Raise RuntimeError if the server did not store the number of profiles sent."""


class Flamewatch:
    def __init__(self, server: RunningServer, title: str, database: int | None) -> None:
        self.title = title
        self.port = urlsplit(server.url).port or 0
        self._pids = [server.process.pid, *([database] if database else [])]
        self._server = server
        self._project = server.add_project()
        self._key = server.add_key(self._project)
        prepare(server, self._project)
        self._read_key = server.add_key(self._project, "read")

    def cpu_seconds(self) -> float:
        return sum(map(processes.cpu_seconds, self._pids))

    def uploads(
        self, kind: ProfileKind, times: Sequence[float], bodies: Sequence[bytes]
    ) -> list[bytes]:
        names = self._names(kind.type, times)
        return [
            flamewatch_upload(self._project, self._key, name, index, body)
            for index, (name, body) in enumerate(zip(names, bodies, strict=True))
        ]

    def _names(self, type: str, times: Sequence[float]) -> list[str]:
        """Return profile names of a type that were issued at these times."""
        command = [
            sys.executable,
            "-m",
            "benchmarks.ingest.beside_pyroscope.names",
            self._project,
            type,
        ]
        done = subprocess.run(
            command,
            env=self._server.environment,
            input=json.dumps(list(times)).encode(),
            capture_output=True,
            check=True,
        )
        names: list[str] = json.loads(done.stdout)
        return names

    def check(self, sent: int) -> None:
        request = urllib.request.Request(
            f"{self._server.url}/api/v1/projects/{self._project}/services?span=6h",
            headers={"Authorization": f"Bearer {self._read_key}"},
        )
        services = json.load(urllib.request.urlopen(request, timeout=30))["services"]
        found = sum(each["profiles"] for each in services)
        if found != sent:
            raise RuntimeError(f"{self.title} has {found} profiles, not {sent}")


class Pyroscope:
    title = "Pyroscope"

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.port = port
        self._pid = process.pid

    def cpu_seconds(self) -> float:
        return processes.cpu_seconds(self._pid)

    def uploads(
        self, kind: ProfileKind, times: Sequence[float], bodies: Sequence[bytes]
    ) -> list[bytes]:
        return [pyroscope_upload(index, body) for index, body in enumerate(bodies)]

    def check(self, sent: int) -> None:
        metrics = urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30)
        lines = metrics.read().decode().splitlines()
        discarded = _sum(lines, "pyroscope_discarded_samples_total")
        received = _sum(lines, "pyroscope_distributor_profiles_received_total")
        if discarded or received < sent:
            raise RuntimeError(
                f"Pyroscope received {received:g} profiles of {sent} and discarded {discarded:g}"
            )


def _sum(lines: Sequence[str], metric: str) -> float:
    """Return the sum of all series of a metric in Prometheus' text format."""
    found = (line for line in lines if line.partition(" ")[0].partition("{")[0] == metric)
    return sum(float(line.rpartition(" ")[2]) for line in found)


@contextlib.contextmanager
def flamewatch(title: str, database_url: str | None = None) -> Iterator[Flamewatch]:
    environment = QUIET | ({"DATABASE_URL": database_url} if database_url else {})
    database = processes.listening_on(urlsplit(database_url).port or 0) if database_url else None
    with running_server(**environment) as server:
        yield Flamewatch(server, title, database)


@contextlib.contextmanager
def pyroscope(binary: Path, folder: Path) -> Iterator[Pyroscope]:
    """Run Pyroscope in one process with its data in the folder, on loopback only.

    Its storage architecture is v2. Its rate limits are raised above the load, and it does not
    profile itself.
    """
    http, grpc, gossip, raft = (free_port() for _ in range(4))
    flags = {
        "target": "all",
        "architecture.storage": "v2",
        "config.show_banner": "false",
        "server.http-listen-address": "127.0.0.1",
        "server.http-listen-port": http,
        "server.grpc-listen-address": "127.0.0.1",
        "server.grpc-listen-port": grpc,
        "memberlist.bind-addr": "127.0.0.1",
        "memberlist.bind-port": gossip,
        "memberlist.advertise-addr": "127.0.0.1",
        "memberlist.advertise-port": gossip,
        "metastore.raft.bind-address": f"127.0.0.1:{raft}",
        "metastore.raft.advertise-address": f"127.0.0.1:{raft}",
        "metastore.raft.server-id": f"127.0.0.1:{raft}",
        "metastore.min-ready-duration": "0s",
        "metastore.address": f"127.0.0.1:{grpc}",
        "query-backend.address": f"127.0.0.1:{grpc}",
        "distributor.ring.instance-addr": "127.0.0.1",
        "segment-writer.lifecycler.addr": "127.0.0.1",
        "overrides-exporter.ring.instance-addr": "127.0.0.1",
        "query-frontend.instance-addr": "127.0.0.1",
        "usage-stats.enabled": "false",
        "self-profiling.disable-push": "true",
        "tracing.enabled": "false",
        "distributor.ingestion-rate-limit-mb": 10_000,
        "distributor.ingestion-burst-size-mb": 10_000,
        "log.level": "warn",
    }
    command = [str(binary.resolve()), *(f"-{name}={value}" for name, value in flags.items())]
    log = folder / "pyroscope.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    try:
        _wait_until_ready(process, http, log)
        yield Pyroscope(process, http)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            if urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5).status == 200:
                return
        time.sleep(0.5)
    raise RuntimeError(f"Pyroscope did not become ready:\n{log.read_text()[-4000:]}")
