"""Neighbour tenant that uploads a small real profile and requests /ok, each five times a second."""

import base64
import contextlib
import gzip
import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.attacks.server import Site
from tests.ingest.pprof import field as field_of_profile
from tests.paths import SAMPLES

PERIOD_SECONDS = 0.2
TIMEOUT_SECONDS = 60.0
_SAMPLE = gzip.decompress((SAMPLES / "python-wall.pb.gz").read_bytes())
_TIME_NANOS = 9  # field of pprof's Profile
_DEPLOYMENT = {"target": "neighbour", "labels": {"zone": "eu-1", "version": "1"}}


@dataclass(slots=True)
class Experience:
    """Results of the neighbour's requests in a period."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"upload": [], "ok": []})
    rejected: list[str] = field(default_factory=list)  # requests without status 200

    def p95(self, kind: str) -> float:
        """Return the 95th percentile latency of requests of this kind, in seconds."""
        ordered = sorted(self.seconds[kind])
        return ordered[int(0.95 * (len(ordered) - 1))]


@contextlib.contextmanager
def neighbour(site: Site) -> Iterator[Experience]:
    """Send requests on two connections until the block ends, and wait for the last responses."""
    experience, ended = Experience(), threading.Event()
    threads = [
        threading.Thread(target=_repeat, args=(site, kind, experience, ended))
        for kind in experience.seconds
    ]
    for thread in threads:
        thread.start()
    try:
        yield experience
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _repeat(site: Site, kind: str, experience: Experience, ended: threading.Event) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=TIMEOUT_SECONDS)
    with contextlib.closing(connection):
        while not ended.wait(PERIOD_SECONDS):
            start = time.perf_counter()
            try:
                status, said = _request(connection, site, kind)
            except OSError as error:  # the next request opens another connection
                status, said = 0, repr(error)
                connection.close()
            experience.seconds[kind].append(time.perf_counter() - start)
            if status != 200:
                experience.rejected.append(f"{kind}: {status} {said}")


def _request(connection: http.client.HTTPConnection, site: Site, kind: str) -> tuple[int, str]:
    if kind == "ok":
        connection.request("GET", "/ok")
    else:
        tenant = site.neighbour
        connection.request(
            "POST", f"{tenant.profiles}:createOffline", upload_body(), dict(tenant.headers)
        )
    response = connection.getresponse()
    return response.status, response.read().decode()[:500]


def upload_body(time_ns: int = 0) -> bytes:
    """Build an upload with this time, by default now, because the time makes it a new profile."""
    message = {
        "profileType": "WALL",
        "deployment": _DEPLOYMENT,
        "duration": "10s",
        "profileBytes": sample_at(time_ns or time.time_ns()),
    }
    return json.dumps(message).encode()


def sample_at(time_ns: int) -> str:
    """Return the sample with another start (Unix time), as base64 of gzip pprof.

    Its own time precedes that of the message around it. The last value of a field is the one that
    counts.
    """
    body = gzip.compress(_SAMPLE + field_of_profile(_TIME_NANOS, time_ns), 1, mtime=0)
    return base64.b64encode(body).decode()
