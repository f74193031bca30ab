"""Account of each query: counts and times by kind and status, and the log of slow queries."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from django.conf import settings
from prometheus_client import Counter, Histogram

from common.metrics import DURATION_BUCKETS, REGISTRY

T = TypeVar("T")

log = logging.getLogger("flamewatch.slow_query")


class QueryStatus(StrEnum):
    """Outcome of a query; label of a metric."""

    OK = "ok"
    INVALID = "invalid"  # the request was wrong, or names what does not exist
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"  # the client left
    REJECTED = "rejected"  # the queue was full
    ERROR = "error"


OTHER = "other"
_QUERIES = Counter(
    "flamewatch_queries",
    "Queries by kind (a page, or a resource of an API) and outcome.",
    ["kind", "status"],
    registry=REGISTRY,
)
_SECONDS = Histogram(
    "flamewatch_query_duration_seconds",
    "Time of a query from its arrival to its result, with the wait for a thread.",
    ["kind"],
    buckets=DURATION_BUCKETS,
    registry=REGISTRY,
)


@dataclass(slots=True)
class QueryFacts:
    """Facts about a query, as plain values: a worker process sends them with its result."""

    status: QueryStatus | None = None  # set by pages, which turn exceptions into responses
    project_id: str = ""
    services: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    start: float | None = None  # earliest start of the selections, a Unix timestamp
    end: float | None = None
    profiles: int = 0  # read by all of its scans together
    download: str = ""  # format of the file that the result is, for the audit log

    def note_selection(self, service: str, type: str, start: datetime, end: datetime) -> None:
        self.services.add(service)
        self.types.add(type)
        first, last = start.timestamp(), end.timestamp()
        self.start = first if self.start is None else min(self.start, first)
        self.end = last if self.end is None else max(self.end, last)


@dataclass(slots=True)
class QueryRecord:
    """Account of one query, which the thread that runs it writes down."""

    kind: str = OTHER
    facts: QueryFacts = field(default_factory=QueryFacts)
    arrived: float = field(default_factory=time.monotonic)
    began: float | None = None  # time.monotonic() at which a thread took the query
    cpu_seconds: float = 0.0  # of the thread of the query, and of its worker process

    def run(self, work: Callable[[], T]) -> T:
        """Call the work in the thread of the query, and measure its CPU time."""
        self.began, cpu = time.monotonic(), time.thread_time()
        try:
            return work()
        finally:
            self.cpu_seconds += time.thread_time() - cpu

    def finish(self, status: QueryStatus) -> None:
        """Count the query, and log it if it was slow."""
        status = self.facts.status or status
        seconds = time.monotonic() - self.arrived
        _QUERIES.labels(self.kind, status.value).inc()
        _SECONDS.labels(self.kind).observe(seconds)
        slow = settings.SLOW_QUERY_SECONDS
        if slow and seconds >= slow:
            self._log(status, seconds)

    def _log(self, status: QueryStatus, seconds: float) -> None:
        """Log one line. It has no filters, labels or addresses: these may contain secrets."""
        facts = self.facts
        waited = seconds if self.began is None else self.began - self.arrived
        log.warning(
            "Slow query: project=%s kind=%s status=%s service=%s type=%s start=%s end=%s "
            "profiles=%d wall=%.3fs waited=%.3fs cpu=%.3fs",
            *(facts.project_id or "-", self.kind, status.value),
            *(_join_names(facts.services), _join_names(facts.types)),
            *(_format_time(facts.start), _format_time(facts.end)),
            *(facts.profiles, seconds, waited, self.cpu_seconds),
        )


def _join_names(names: set[str]) -> str:
    """Return the first names, quoted: a service's name may have spaces and line ends."""
    return ",".join(f"{name!r}" for name in sorted(names)[:3]) or "-"


def _format_time(timestamp: float | None) -> str:
    if timestamp is None:
        return "-"
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="seconds")
