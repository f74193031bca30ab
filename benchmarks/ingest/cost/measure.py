"""Measurement of one server under uploads of each shape."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import uvloop

from benchmarks.ingest.cost.sending import Sent, at_once, at_random
from benchmarks.ingest.cost.upload import Uploads
from benchmarks.tools import processes
from benchmarks.tools.prepared import prepare
from benchmarks.tools.shapes import SHAPES
from tests.server import RunningServer, running_server

QUIET = {"FLAMEWATCH_POLL_TIMEOUT_SECONDS": "0.01", "FLAMEWATCH_PLAN_PERIOD_SECONDS": "60"}
IDLE_SECONDS, WARM_UP_SECONDS, SECONDS = 4.0, 2.0, 8.0
CONNECTIONS = 8  # connections that send as fast as they can
MOST_NAMES = 60_000  # for all shapes together


@dataclass(frozen=True, slots=True)
class Load:
    """Measured cost of a number of uploads."""

    uploads: int
    seconds: float
    server_cpu: float  # seconds, without the cost of an idle server
    database_cpu: float  # seconds, of PostgreSQL's processes
    acknowledged: list[float]  # seconds per upload, sorted
    peak_bytes: int  # peak resident memory of the server

    @property
    def rate(self) -> float:
        return self.uploads / self.seconds

    def cpu_ms(self, seconds: float) -> float:
        return seconds / self.uploads * 1e3

    def percentile(self, share: float) -> float:
        """Return the milliseconds within which `share` % of the uploads were acknowledged."""
        return self.acknowledged[int(share / 100 * (len(self.acknowledged) - 1))] * 1e3


@dataclass
class Measured:
    """Loads by shape, at full and at half rate."""

    full: dict[str, Load] = field(default_factory=dict)
    half: dict[str, Load] = field(default_factory=dict)


def measure(database_url: str | None = None) -> Measured:
    environment = QUIET | ({"DATABASE_URL": database_url} if database_url else {})
    with running_server(**environment) as server:
        return _Bench(server, environment).run()


class _Bench:
    def __init__(self, server: RunningServer, environment: Mapping[str, str]) -> None:
        self._server = server
        self._project = server.add_project()
        self._key = server.add_key(self._project)
        self._port = urlsplit(server.url).port or 0
        self._pid = server.process.pid
        self._database = (
            processes.listening_on(urlsplit(environment["DATABASE_URL"]).port or 0)
            if "DATABASE_URL" in environment
            else None
        )

    def run(self) -> Measured:
        types = [shape.type for shape in SHAPES.values()]
        names = prepare(self._server, self._project, MOST_NAMES, types=types).names
        time.sleep(1)
        idle = self._idle()
        measured = Measured()
        for index, shape in enumerate(SHAPES):
            uploads = Uploads(shape, self._project, self._key, names[index :: len(types)])
            uvloop.run(at_once(self._port, iter(uploads), CONNECTIONS, WARM_UP_SECONDS))
            full = self._load(uploads, idle, rate=None)
            measured.full[shape] = full
            measured.half[shape] = self._load(uploads, idle, rate=full.rate / 2)
        return measured

    def _idle(self) -> tuple[float, float]:
        """Return the CPU shares, in cores, of the idle server and its idle database."""
        before = self._cpu()
        time.sleep(IDLE_SECONDS)
        server, database = (now - then for now, then in zip(self._cpu(), before, strict=True))
        return server / IDLE_SECONDS, database / IDLE_SECONDS

    def _cpu(self) -> tuple[float, float]:
        server = processes.cpu_seconds(self._pid)
        return server, processes.cpu_seconds(self._database) if self._database else 0.0

    def _load(
        self, uploads: Iterator[bytes], idle: tuple[float, float], rate: float | None
    ) -> Load:
        processes.forget_peak(self._pid)
        before, start = self._cpu(), time.perf_counter()
        sent: Sent = uvloop.run(
            at_once(self._port, uploads, CONNECTIONS, SECONDS)
            if rate is None
            else at_random(self._port, uploads, rate, SECONDS)
        )
        seconds = time.perf_counter() - start
        server, database = (
            now - then - share * seconds
            for now, then, share in zip(self._cpu(), before, idle, strict=True)
        )
        return Load(
            uploads=len(sent),
            seconds=seconds,
            server_cpu=server,
            database_cpu=max(0.0, database),
            acknowledged=sorted(sent),
            peak_bytes=processes.peak_bytes(self._pid),
        )
