"""Measure a quiet project beside a busy one, on the real server with SQLite and two cores.

The busy project has 8 connections that upload without pause, and 4 people who request flame graphs
over 12 hours, each a query of its own. The quiet one uploads and opens its flame graph a few times
a second. Run with `FLAMEWATCH_QUERY_WORKERS=0` for queries in the server's own process.

The memory is that of all processes of the server together: each page that several share counts
once (PSS).
"""

import base64
import json
import sys
import time
from datetime import UTC, datetime, timedelta
from statistics import median
from urllib.parse import urlencode

import httpx

from benchmarks.tools.processes import peak_memory
from benchmarks.tools.shapes import variants
from benchmarks.tools.table import Figure, show
from tests.attacks.overload.load import OfferedLoad
from tests.attacks.overload.run import Latencies, QuietProject, run_load
from tests.attacks.server import Site, Uploader, attacked_site
from tests.end_to_end.browser_forms import signed_in
from tests.paths import SAMPLES

SECONDS = 20.0
HOURS = 12
PROFILES = 60 * HOURS  # one a minute
CONNECTIONS, VISITORS = 8, 4
MEDIAN_RATIO, P95_RATIO = 2.0, 3.0
MEMORY_MIB = 450.0
MANY = 10**7  # quotas that are no limit here


def main() -> int:
    with attacked_site(FLAMEWATCH_PLAN_PERIOD_SECONDS="60") as site:
        busy = _add_busy_project(site)
        quiet = QuietProject(site)
        with quiet.visiting():  # warms its caches up
            time.sleep(3)
        with quiet.visiting() as alone:
            time.sleep(SECONDS)
        with peak_memory(site.pid) as peak, quiet.visiting() as beside:
            result = run_load(_load(site, busy))
    figures = [
        Figure("uploads of the busy project", result.uploads[200] / SECONDS, "a second"),
        Figure("flame graphs of the busy project", result.queries[200] / SECONDS, "a second"),
    ]
    for kind in ("upload", "flame"):
        figures += _latency_figures(kind, alone, beside)
    figures.append(Figure("memory of all processes, peak", peak[0] / 2**20, "MiB", MEMORY_MIB))
    is_met = show("Quiet project beside a busy one", figures)
    print(f"  uploads by status {dict(result.uploads)}, queries {dict(result.queries)}")
    for said in {*alone.failed, *beside.failed}:
        print(f"  FAILED {said}")
    return 0 if is_met and not beside.failed else 1


def _latency_figures(kind: str, alone: Latencies, beside: Latencies) -> list[Figure]:
    before, during = median(alone.seconds[kind]), median(beside.seconds[kind])
    p95_before, p95_during = alone.p95(kind), beside.p95(kind)
    return [
        Figure(f"{kind}, median alone", before * 1e3, "ms"),
        Figure(f"{kind}, median beside", during * 1e3, "ms", MEDIAN_RATIO * before * 1e3),
        Figure(f"{kind}, p95 alone", p95_before * 1e3, "ms"),
        Figure(f"{kind}, p95 beside", p95_during * 1e3, "ms", P95_RATIO * p95_before * 1e3),
    ]


def _add_busy_project(site: Site) -> Uploader:
    tenant = site.server.add_tenant(
        "Busy", "busy@example.org", profiles_per_minute=MANY, profiles_per_day=MANY
    )
    busy = Uploader(tenant.project, tenant.write, tenant.read)
    begin = datetime.now(UTC) - timedelta(hours=HOURS)
    with httpx.Client(base_url=site.server.url, timeout=120) as client:
        for minute, body in enumerate(variants(PROFILES)):
            message = {
                "profileType": "CPU",
                "deployment": {"target": "api", "labels": {"zone": "eu-1", "version": "1"}},
                "duration": "10s",
                "startTime": (begin + timedelta(minutes=minute)).isoformat(),
                "profileBytes": base64.b64encode(body).decode(),
            }
            path = f"{busy.profiles}:createOffline"
            response = client.post(path, content=json.dumps(message), headers=busy.headers)
            response.raise_for_status()
    return busy


def _load(site: Site, busy: Uploader) -> OfferedLoad:
    with signed_in(site.server, "busy@example.org") as client:
        cookies = dict(client.cookies)
    now = datetime.now(UTC)
    query = {
        "service": "api",
        "type": "CPU",
        "start": f"{now - timedelta(hours=HOURS):%Y-%m-%dT%H:%M:%SZ}",
        "end": f"{now:%Y-%m-%dT%H:%M:%SZ}",
    }
    return OfferedLoad(
        url=site.server.url,
        seconds=SECONDS,
        profiles=busy.profiles,
        headers=busy.headers,
        connections=CONNECTIONS,
        file=str(SAMPLES / "go-cpu.pb.gz"),
        page=f"/p/{busy.project}/flame/tree?{urlencode(query)}&weights={{number}}..{10**18}",
        cookies=cookies,
        queries=VISITORS,
    )


if __name__ == "__main__":
    sys.exit(main())
