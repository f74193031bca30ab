"""State of this process that is read at a scrape: caches, rejections, worker processes."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from common.worker_processes.workers import FATAL_OUTCOMES, Outcome, WorkerEnd, Workers
from profiler_site.process.idle_memory import running_workers
from profiles.query import cache_stats
from projects.usage import rejections

# By field of CacheStats: kind and description.
_CACHE_METRICS = {
    "hits": (CounterMetricFamily, "Lookups that found the value in the cache."),
    "misses": (CounterMetricFamily, "Lookups that did not find the value in the cache."),
    "evictions": (CounterMetricFamily, "Values evicted because the cache was full."),
    "errors": (CounterMetricFamily, "Failed lookups; each also counts as a miss."),
    "bytes": (GaugeMetricFamily, "Bytes used by the values in the cache; 0 for one in Redis."),
    "entries": (GaugeMetricFamily, "Values in the cache; 0 for a cache in Redis."),
}


class ProcessState:
    """Collector for common.metrics.REGISTRY."""

    def collect(self) -> Iterator[Metric]:
        caches = {name: asdict(stats) for name, stats in cache_stats().items()}
        for field, (family_of, description) in _CACHE_METRICS.items():
            family = family_of(f"flamewatch_cache_{field}", description, labels=["cache"])
            for name, values in caches.items():
                family.add_metric([name], values[field])
            yield family
        # Not by project, because labels have to be bounded.
        rejected = CounterMetricFamily(
            "flamewatch_rejections", "Requests rejected by a limit.", labels=["reason"]
        )
        for reason, count in rejections.totals().items():
            rejected.add_metric([reason.value], count)
        yield rejected
        yield from _worker_families(running_workers())


def _worker_families(pools: Iterable[Workers]) -> Iterator[Metric]:
    starts = CounterMetricFamily(
        "flamewatch_worker_starts", "Worker processes started.", labels=["pool"]
    )
    for pool in pools:
        starts.add_metric([pool.name], pool.statistics.starts)
    yield starts
    ends = CounterMetricFamily(
        "flamewatch_worker_ends",
        "Worker processes that crashed, were ended at a limit, or replaced.",
        labels=["pool", "reason"],
    )
    for pool in pools:
        for reason in (*FATAL_OUTCOMES, *WorkerEnd):
            ends.add_metric([pool.name, reason.value], pool.statistics.ends[reason])
    yield ends
    jobs = CounterMetricFamily(
        "flamewatch_worker_jobs", "Jobs of worker processes by outcome.", labels=["pool", "outcome"]
    )
    for pool in pools:
        for outcome in Outcome:
            jobs.add_metric([pool.name, outcome.value], pool.statistics.jobs[outcome])
    yield jobs
