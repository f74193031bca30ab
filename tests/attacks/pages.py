"""Signed-in users who request flame graphs of large profiles."""

import base64
import gzip
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx

from tests.attacks.server import Site, Uploader
from tests.end_to_end.browser_forms import signed_in
from tests.ingest.pprof import CPU, field, varint

FUNCTIONS, STACKS, DEPTH = 10_000, 15_000, 10
DISTINCT = 6  # distinct large profiles; building one takes longer than storing it
_PAUSE_SECONDS = 0.1


def large_profile(seed: int) -> bytes:
    """Return gzip pprof with many stacks, few of which share frames with those of another seed."""
    chance = random.Random(seed)
    pieces = [field(1, field(1, at) + field(2, at + 1)) for at, _ in zip((1, 3), CPU, strict=True)]
    for _ in range(STACKS):
        stack = b"".join(varint(chance.randrange(1, FUNCTIONS + 1)) for _ in range(DEPTH))
        pieces.append(field(2, field(1, stack) + field(2, varint(1) + varint(10_000_000))))
    for i in range(1, FUNCTIONS + 1):
        pieces.append(field(4, field(1, i) + field(4, field(1, i) + field(2, 7))))
        pieces.append(field(5, field(1, i) + field(2, 4 + i)))
    names = ["", *(text for pair in CPU for text in pair)]
    names += [f"shop.module_{i % 97}.function_{i}" for i in range(FUNCTIONS)]
    pieces += [field(6, name.encode()) for name in names]
    return gzip.compress(b"".join(pieces), 1, mtime=0)


def store(site: Site, tenant: Uploader, count: int, body: bytes = b"") -> None:
    """Store profiles of the service `shop`, a second apart; large ones unless a body is given."""
    large = [] if body else [large_profile(seed) for seed in range(DISTINCT)]
    now = datetime.now(UTC) - timedelta(minutes=30)
    with httpx.Client(base_url=site.server.url, timeout=120) as client:
        for number in range(count):
            message = {
                "profileType": "CPU",
                "deployment": {"target": "shop", "labels": {"zone": "eu-1", "version": "1"}},
                "duration": "10s",
                "startTime": (now + timedelta(seconds=number)).isoformat(),
                "profileBytes": base64.b64encode(body or large[number % DISTINCT]).decode(),
            }
            response = client.post(
                f"{tenant.profiles}:createOffline",
                content=json.dumps(message),
                headers=tenant.headers,
            )
            assert response.status_code == 200, response.text


def flame_path(tenant: Uploader, number: int = 0) -> str:
    """Return the URL of a flame graph's data; each `number` is a distinct, equally large query."""
    start = datetime.now(UTC) - timedelta(hours=2, seconds=number)
    return (
        f"/p/{tenant.project}/flame/tree?service=shop&type=CPU"
        f"&start={start:%Y-%m-%dT%H:%M:%SZ}&end={datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    )


class Visitor:
    """User who reloads a flame graph and records the seconds of each load."""

    def __init__(self, site: Site, tenant: Uploader, email: str) -> None:
        self._site, self._tenant, self._email = site, tenant, email
        self.seconds: list[float] = []
        self.rejected: Counter[int] = Counter()

    def p95(self) -> float:
        ordered = sorted(self.seconds)
        return ordered[int(0.95 * (len(ordered) - 1))]

    @contextmanager
    def visiting(self) -> Iterator[None]:
        ended = threading.Event()
        with signed_in(self._site.server, self._email) as client:
            client.timeout = httpx.Timeout(90)
            visit = threading.Thread(target=self._visit, args=(client, ended))
            visit.start()
            try:
                yield
            finally:
                ended.set()
                visit.join()

    def _visit(self, client: httpx.Client, ended: threading.Event) -> None:
        while not ended.wait(_PAUSE_SECONDS):
            began = time.perf_counter()
            response = client.get(flame_path(self._tenant, len(self.seconds)))
            self.seconds.append(time.perf_counter() - began)
            if response.status_code != 200:
                self.rejected[response.status_code] += 1
