"""Metrics of this process for Prometheus, at /metrics.

They count what all tenants do, so they are only for holders of FLAMEWATCH_METRICS_TOKEN; without
this setting there is nothing at the address.
"""

import hmac
from dataclasses import asdict

from asgiref.typing import ASGISendCallable, HTTPScope
from django.conf import settings

from common.worker_processes.pool import Outcome, WorkerPool
from ingest.uploads import conversion_pool
from profiler_site.text_response import send_text
from profiles.query import cache_stats
from projects.usage import rejections

PATH = "/metrics"
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# By field of CacheStats: kind and description.
_CACHE_METRICS = {
    "hits": ("counter", "Lookups that found the value in the cache."),
    "misses": ("counter", "Lookups that did not find the value in the cache."),
    "evictions": ("counter", "Values evicted because the cache was full."),
    "errors": ("counter", "Failed lookups; each also counts as a miss."),
    "bytes": ("gauge", "Bytes used by the values in the cache; 0 for a cache in Redis."),
    "entries": ("gauge", "Values in the cache; 0 for a cache in Redis."),
}


def text() -> str:
    """Return the metrics in Prometheus's text format."""
    caches = {name: asdict(stats) for name, stats in cache_stats().items()}
    lines = []
    for field, (kind, description) in _CACHE_METRICS.items():
        metric = f"flamewatch_cache_{field}{'_total' if kind == 'counter' else ''}"
        lines += [f"# HELP {metric} {description}", f"# TYPE {metric} {kind}"]
        lines += [f'{metric}{{cache="{name}"}} {values[field]}' for name, values in caches.items()]
    return "\n".join([*lines, *_rejection_lines(), *_worker_lines(conversion_pool.pool)]) + "\n"


def _rejection_lines() -> list[str]:
    """Return the rejections by reason; not by project, because a label has to be bounded."""
    metric = "flamewatch_rejections_total"
    return [
        f"# HELP {metric} Requests rejected by a limit.",
        f"# TYPE {metric} counter",
        *(
            f'{metric}{{reason="{reason}"}} {count}'
            for reason, count in rejections.totals().items()
        ),
    ]


def _worker_lines(pool: WorkerPool) -> list[str]:
    starts, jobs = "flamewatch_worker_starts_total", "flamewatch_worker_jobs_total"
    return [
        f"# HELP {starts} Worker processes started.",
        f"# TYPE {starts} counter",
        f'{starts}{{pool="{pool.name}"}} {pool.statistics.starts}',
        f"# HELP {jobs} Jobs of worker processes by outcome.",
        f"# TYPE {jobs} counter",
        *(
            f'{jobs}{{pool="{pool.name}",outcome="{outcome}"}} {pool.statistics.jobs[outcome]}'
            for outcome in Outcome
        ),
    ]


async def respond(scope: HTTPScope, send: ASGISendCallable) -> None:
    """Respond with the metrics, 401 without the token, or 404 if there is no token."""
    if not settings.METRICS_TOKEN:
        status, body = 404, "Not found.\n"
    elif not _is_allowed(scope):
        status, body = 401, "Send the FLAMEWATCH_METRICS_TOKEN as Authorization: Bearer TOKEN.\n"
    else:
        status, body = 200, text()
    await send_text(send, status, body, _CONTENT_TYPE)


def _is_allowed(scope: HTTPScope) -> bool:
    given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    return hmac.compare_digest(given, b"Bearer " + settings.METRICS_TOKEN.encode())
