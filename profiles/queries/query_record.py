"""Account of each query: counts and times by kind and status, and the log of slow queries."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeVar

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


class QueryFacts(NamedTuple):
    """Facts about a query that ran in another process."""

    status: QueryStatus | None
    project_id: str
    services: tuple[str, ...]
    types: tuple[str, ...]
    start: str  # ISO 8601; "" without a selection
    end: str
    profiles: int


@dataclass(slots=True)
class QueryRecord:
    """Facts about one query, which the thread that runs it writes down."""

    kind: str = OTHER
    status: QueryStatus | None = None  # set by pages, which turn exceptions into responses
    project_id: str = ""
    services: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    start: datetime | None = None  # earliest start of the selections
    end: datetime | None = None
    profiles: int = 0  # read by all of its scans together
    arrived: float = field(default_factory=time.monotonic)
    began: float | None = None  # time.monotonic() at which a thread took the query
    cpu_seconds: float = 0.0  # of the thread of the query, and of its worker process

    def note_selection(self, service: str, type: str, start: datetime, end: datetime) -> None:
        self.services.add(service)
        self.types.add(type)
        self.start = start if self.start is None else min(self.start, start)
        self.end = end if self.end is None else max(self.end, end)

    def facts(self) -> QueryFacts:
        return QueryFacts(
            self.status,
            self.project_id,
            (*self.services,),
            (*map(str, self.types),),
            self.start.isoformat() if self.start else "",
            self.end.isoformat() if self.end else "",
            self.profiles,
        )

    def take(self, facts: QueryFacts) -> None:
        """Take over what another process has written down."""
        self.status, self.project_id = facts.status, facts.project_id
        self.services, self.types = {*facts.services}, {*facts.types}
        self.start = datetime.fromisoformat(facts.start) if facts.start else None
        self.end = datetime.fromisoformat(facts.end) if facts.end else None
        self.profiles = facts.profiles

    def run(self, work: Callable[[], T]) -> T:
        """Call the work in the thread of the query, and measure its CPU time."""
        self.began, cpu = time.monotonic(), time.thread_time()
        try:
            return work()
        finally:
            self.cpu_seconds += time.thread_time() - cpu

    def finish(self, status: QueryStatus) -> None:
        """Count the query, and log it if it was slow."""
        status = self.status or status
        seconds = time.monotonic() - self.arrived
        _QUERIES.labels(self.kind, status.value).inc()
        _SECONDS.labels(self.kind).observe(seconds)
        slow = settings.SLOW_QUERY_SECONDS
        if slow and seconds >= slow:
            self._log(status, seconds)

    def _log(self, status: QueryStatus, seconds: float) -> None:
        """Log one line. It has no filters, labels or addresses: these may contain secrets."""
        waited = seconds if self.began is None else self.began - self.arrived
        log.warning(
            "Slow query: project=%s kind=%s status=%s service=%s type=%s start=%s end=%s "
            "profiles=%d wall=%.3fs waited=%.3fs cpu=%.3fs",
            *(self.project_id or "-", self.kind, status.value),
            *(
                _join_names(self.services),
                _join_names(self.types),
                _time(self.start),
                _time(self.end),
            ),
            *(self.profiles, seconds, waited, self.cpu_seconds),
        )


def _join_names(names: set[str]) -> str:
    """Return the first names, quoted: a service's name may have spaces and line ends."""
    return ",".join(f"{name!r}" for name in sorted(names)[:3]) or "-"


def _time(time: datetime | None) -> str:
    return "-" if time is None else time.isoformat(timespec="seconds")
