"""Latency of a quiet project before, during and after an overload by two others."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from urllib.parse import urlencode

import httpx

from tests.attacks.neighbour import upload_body
from tests.attacks.overload.load import LoadResult, OfferedLoad
from tests.attacks.pages import store
from tests.attacks.server import PeakUsage, Site, Uploader, attacked_site, watched
from tests.end_to_end.browser_forms import signed_in

FACTOR = 10  # uploads offered, as a multiple of the sustainable rate
SUSTAINED_CONNECTIONS = 8  # that upload without pause to find the sustainable rate
CONNECTIONS = 128  # of uploads during the overload
QUERIES = 20  # page queries at a time
HEAVY_PROFILES = 12  # merged by each page query
OPENED_PROFILES = 60  # merged by each flame graph of the quiet project
PAUSE_SECONDS = 0.2  # between two requests of the quiet project
TIMEOUT_SECONDS = 120.0
MANY = 10**7  # quotas that are no limit here


@dataclass(slots=True)
class Latencies:
    """Seconds of the quiet project's requests in a period, by kind."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"upload": [], "flame": []})
    failed: list[str] = field(default_factory=list)

    def p95(self, kind: str) -> float:
        ordered = sorted(self.seconds[kind])
        return ordered[int(0.95 * (len(ordered) - 1))]


@dataclass(frozen=True, slots=True)
class Overload:
    """Results of a run."""

    sustained: float  # uploads per second of one project alone
    offered: float  # per second, during the overload
    before: Latencies
    during: Latencies
    after: Latencies
    load: LoadResult
    usage: PeakUsage
    acknowledged: dict[str, int]  # uploads with status 200, by project
    stored: dict[str, int]  # profiles that queries find

    def ratio(self, kind: str) -> float:
        """Return p95 during the overload as a multiple of p95 before."""
        return self.during.p95(kind) / self.before.p95(kind)

    def recovery_seconds(self) -> float:
        """Return the longest of the quiet project's first two requests after the overload."""
        return max(seconds[0] for seconds in self.after.seconds.values())


def measure(seconds: float) -> Overload:
    """Overload a new server for `seconds`, between two quiet periods of the same length."""
    with attacked_site(FLAMEWATCH_PLAN_PERIOD_SECONDS="60") as site:
        crowd = _crowd(site)
        store(site, site.attacker, HEAVY_PROFILES)
        quiet = QuietProject(site)
        with quiet.visiting():  # warms its caches up
            sustained = _sustained(site, crowd, seconds)
        first = sustained.uploads[200]
        with quiet.visiting() as before:
            time.sleep(seconds)
        load = _overload(site, crowd, seconds, first)
        with watched(site) as usage, quiet.visiting() as during:
            result = run_load(load)
        with quiet.visiting() as after:
            time.sleep(seconds)
        acknowledged = {
            crowd.project: first + result.uploads[200],
            site.neighbour.project: quiet.acknowledged,
        }
        stored = {each.project: _stored(site, each) for each in (crowd, site.neighbour)}
    return Overload(
        sustained=first / seconds,
        offered=result.offered / seconds,
        before=before,
        during=during,
        after=after,
        load=result,
        usage=usage,
        acknowledged=acknowledged,
        stored=stored,
    )


def _crowd(site: Site) -> Uploader:
    tenant = site.server.add_tenant(
        "Crowd", "crowd@example.org", profiles_per_minute=MANY, profiles_per_day=MANY
    )
    return Uploader(tenant.project, tenant.write, tenant.read)


def _sustained(site: Site, crowd: Uploader, seconds: float) -> LoadResult:
    """Upload without pause on a few connections."""
    return run_load(
        OfferedLoad(
            url=site.server.url,
            seconds=seconds,
            profiles=crowd.profiles,
            headers=crowd.headers,
            connections=SUSTAINED_CONNECTIONS,
        )
    )


def _overload(site: Site, crowd: Uploader, seconds: float, first: int) -> OfferedLoad:
    with signed_in(site.server, "attacker@example.org") as client:
        cookies = dict(client.cookies)
    return OfferedLoad(
        url=site.server.url,
        seconds=seconds,
        profiles=crowd.profiles,
        headers=crowd.headers,
        uploads_per_second=FACTOR * first / seconds,
        connections=CONNECTIONS,
        first=first,
        page=_heavy_page(site.attacker),
        cookies=cookies,
        queries=QUERIES,
    )


def _heavy_page(tenant: Uploader) -> str:
    """Return the path of a flame graph, of which each `weights` is a query of its own."""
    now = datetime.now(UTC)
    query = {
        "service": "shop",
        "type": "CPU",
        "start": f"{now - timedelta(hours=2):%Y-%m-%dT%H:%M:%SZ}",
        "end": f"{now:%Y-%m-%dT%H:%M:%SZ}",
    }
    return f"/p/{tenant.project}/flame/tree?{urlencode(query)}&weights={{number}}..{10**18}"


def run_load(load: OfferedLoad) -> LoadResult:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attacks.overload.load"],
        input=json.dumps(asdict(load)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    fields = json.loads(done.stdout)
    return LoadResult(
        fields["offered"], _by_status(fields["uploads"]), _by_status(fields["queries"])
    )


def _by_status(counts: dict[str, int]) -> Counter[int]:
    return Counter({int(status): number for status, number in counts.items()})


def _stored(site: Site, tenant: Uploader) -> int:
    """Return the number of profiles in all services of a project."""
    total = 0
    with httpx.Client(base_url=site.server.url, timeout=TIMEOUT_SECONDS) as client:
        for service, type_ in (("shop", "WALL"), ("shop", "CPU"), ("neighbour", "WALL")):
            response = client.get(
                f"/api/v1/projects/{tenant.project}/tree",
                params={"service": service, "type": type_, "span": "6h"},
                headers={"Authorization": f"Bearer {tenant.read_key}"},
            )
            response.raise_for_status()
            total += int(response.json()["profiles"])
    return total


class QuietProject:
    """Project whose agent uploads, and whose member opens a flame graph, a few times a second.

    The graph has the same profiles each time, not those of the uploads: it would grow with them.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._numbers = count()
        self._opened_until = int(time.time()) - 1
        self.acknowledged = 0
        with httpx.Client(base_url=site.server.url, timeout=TIMEOUT_SECONDS) as agent:
            for minute in range(1, OPENED_PROFILES + 1):
                self._upload(agent, self._opened_until - 60 * minute).raise_for_status()

    @contextlib.contextmanager
    def visiting(self) -> Iterator[Latencies]:
        """Send both kinds of requests until the block ends, and wait for the last responses."""
        latencies, ended = Latencies(), threading.Event()
        email = "neighbour@example.org"
        with (
            httpx.Client(base_url=self._site.server.url, timeout=TIMEOUT_SECONDS) as agent,
            signed_in(self._site.server, email) as member,
        ):
            member.timeout = httpx.Timeout(TIMEOUT_SECONDS)
            kinds = {"upload": lambda: self._upload(agent), "flame": lambda: self._open(member)}
            threads = [
                threading.Thread(target=_repeat, args=(kind, send, latencies, ended))
                for kind, send in kinds.items()
            ]
            for thread in threads:
                thread.start()
            try:
                yield latencies
            finally:
                ended.set()
                for thread in threads:
                    thread.join()

    def _upload(self, client: httpx.Client, unix_seconds: int = 0) -> httpx.Response:
        tenant = self._site.neighbour
        path = f"{tenant.profiles}:createOffline"
        body = upload_body(unix_seconds * 10**9)
        response = client.post(path, content=body, headers=tenant.headers)
        self.acknowledged += response.status_code == 200
        return response

    def _open(self, client: httpx.Client) -> httpx.Response:
        # Each opening has another range, with the same profiles.
        start = self._opened_until - 2 * 3600 - next(self._numbers)
        query = {
            **{"service": "neighbour", "type": "WALL"},
            "start": datetime.fromtimestamp(start, UTC).isoformat(),
            "end": datetime.fromtimestamp(self._opened_until, UTC).isoformat(),
        }
        path = f"/p/{self._site.neighbour.project}/flame/tree?{urlencode(query)}"
        return client.get(path)


def _repeat(
    kind: str,
    send: Callable[[], httpx.Response],
    latencies: Latencies,
    ended: threading.Event,
) -> None:
    while not ended.wait(PAUSE_SECONDS):
        began = time.perf_counter()
        try:
            response = send()
        except httpx.TransportError as error:
            latencies.failed.append(f"{kind}: {error!r}")
            continue
        latencies.seconds[kind].append(time.perf_counter() - began)
        if response.status_code != 200:
            latencies.failed.append(f"{kind}: {response.status_code} {response.text[:200]}")
