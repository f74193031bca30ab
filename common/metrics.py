"""Metrics of this process for Prometheus, in one registry.

A module defines its counters and histograms beside the code that they count, with
`registry=REGISTRY`. What is only known at a scrape, such as the length of a queue, comes from a
collector: an object whose `collect()` yields metric families, passed to `REGISTRY.register` once.
Labels are bounded: never a project, a service, an agent or a path.
"""

from prometheus_client import CollectorRegistry, ProcessCollector, disable_created_metrics

REGISTRY = CollectorRegistry()
# Upper bounds in seconds: an upload takes about a millisecond, a query at most some 20 s.
DURATION_BUCKETS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)

# They would be one series more for each series, which Prometheus does not use.
disable_created_metrics()  # type: ignore[no-untyped-call]
ProcessCollector(registry=REGISTRY)
