"""Thread pool shared fairly between tenants and their clients.

Each client of each tenant has a queue. A free thread takes the next job of the tenant with the
least recent cost in thread seconds, in all pools of the process. Backlogged tenants therefore get
equal shares of the threads, whether their jobs are many and short or few and long, and a job of an
idle tenant is the next one. Clients of a tenant take turns. Tenants and clients at their limit of
running jobs are skipped, so that long jobs of one tenant leave threads for the others.
"""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TypeVar, cast

from common.recent_costs import RecentCosts, costs_of_process
from common.thread_pool import FutureJob, Job, ThreadPool

T = TypeVar("T")


class QueueFull(Exception):
    """The limit of queued jobs is reached, for this tenant (`of_tenant`) or for all together."""

    def __init__(self, of_tenant: bool, limit: int) -> None:
        super().__init__(limit)
        self.of_tenant = of_tenant
        self.limit = limit


@dataclass(frozen=True, slots=True)
class FairLimits:
    """Limits of running and queued jobs.

    Above `waiting`, a tenant without queued jobs may still queue one, up to twice the number: the
    backlogs of some tenants must not lock out the others.
    """

    threads: int
    running_of_tenant: int
    running_of_client: int
    waiting_of_tenant: int
    waiting: int  # of all tenants together


class _FairJob:
    """Job of one client of a tenant, which tells its queue when it has ended."""

    __slots__ = ("client", "queue", "queued_at", "started_at", "tenant", "work")

    def __init__(
        self, queue: "FairQueue", tenant: Hashable, client: Hashable, work: Callable[[], object]
    ) -> None:
        self.queue, self.tenant, self.client, self.work = queue, tenant, client, work
        self.queued_at = time.monotonic()
        self.started_at: float | None = None

    def __call__(self) -> None:
        try:
            self.work()
        finally:
            self.queue.end(self)


@dataclass(slots=True)
class _Tenant:
    # By client, in the order of their turns; empty queues are removed.
    queues: "OrderedDict[Hashable, deque[_FairJob]]" = field(default_factory=OrderedDict)
    running: dict[Hashable, int] = field(default_factory=dict)
    waiting: int = 0


class FairThreads:
    """Thread pool that serves tenants, and the clients of each, in fair order within `limits`."""

    def __init__(
        self,
        name: str,
        limits: FairLimits,
        *,
        costs: RecentCosts = costs_of_process,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self._queue = FairQueue(limits, costs, clock)
        self._pool = ThreadPool(name, limits.threads, queue=self._queue)

    @property
    def waiting(self) -> int:
        """Return the number of queued jobs of all tenants."""
        return self._queue.waiting

    @property
    def is_idle(self) -> bool:
        """Return True if no job is queued or running."""
        return self._queue.is_empty

    def submit(self, tenant: Hashable, client: Hashable, work: Callable[[], T]) -> "Future[T]":
        """Queue the work. Raise QueueFull.

        Cancelling the future removes work that has not started from the queue.
        """
        awaited = FutureJob(work)
        job = _FairJob(self._queue, tenant, client, awaited)
        self._pool.start(job)
        awaited.future.add_done_callback(partial(self._remove_cancelled, job))
        return awaited.future

    def _remove_cancelled(self, job: _FairJob, future: "Future[T]") -> None:
        if future.cancelled():
            self._queue.remove(job)

    def start(self, tenant: Hashable, work: Callable[[], object]) -> None:
        """Queue work whose result nobody awaits. Its exception is logged. Raise QueueFull."""
        self._pool.start(_FairJob(self._queue, tenant, tenant, work))


class FairQueue:
    """Queue of jobs by tenant and client; implements JobQueue."""

    def __init__(self, limits: FairLimits, costs: RecentCosts, clock: Callable[[], float]) -> None:
        self._limits, self._costs, self._clock = limits, costs, clock
        # The tenant that was served last is the last one; the order decides between equal costs.
        self._tenants: OrderedDict[Hashable, _Tenant] = OrderedDict()
        self._lock = threading.Lock()
        # One entry for each job that was added, and for each that ended while others waited. A
        # thread that takes an entry looks for a job. A Condition would take three times the CPU.
        self._changes: SimpleQueue[None] = SimpleQueue()
        self.waiting = 0

    @property
    def is_empty(self) -> bool:
        """Return True if no job is queued or running."""
        return not self._tenants

    def qsize(self) -> int:
        return self.waiting

    def put(self, job: Job) -> None:
        """Add a job of FairThreads.submit. Raise QueueFull."""
        self._put(cast("_FairJob", job))

    def _put(self, job: _FairJob) -> None:
        with self._lock:
            tenant = self._tenants.get(job.tenant) or _Tenant()
            if tenant.waiting >= self._limits.waiting_of_tenant:
                raise QueueFull(True, self._limits.waiting_of_tenant)
            if self.waiting >= self._limits.waiting * (1 if tenant.waiting else 2):
                raise QueueFull(False, self._limits.waiting)
            self._tenants[job.tenant] = tenant
            tenant.queues.setdefault(job.client, deque()).append(job)
            tenant.waiting += 1
            self.waiting += 1
        self._changes.put(None)

    def get(self) -> Job:
        while True:
            self._changes.get()
            with self._lock:
                job = self.take()
            if job is not None:
                return job

    def end(self, job: _FairJob) -> None:
        """Update the counts after a job has ended, and wake a thread."""
        with self._lock:
            if job.started_at is not None:
                self._costs.end(job.tenant, job.started_at, self._clock())
            tenant = self._tenants[job.tenant]
            tenant.running[job.client] -= 1
            if not tenant.running[job.client]:
                del tenant.running[job.client]
            self._remove_if_idle(job.tenant)
            if self.waiting:  # the tenant or client may be below its limit now
                self._changes.put(None)

    def remove(self, job: _FairJob) -> None:
        """Remove a job from the queue if it has not started."""
        with self._lock:
            if job.started_at is None:
                self._tenants[job.tenant].queues[job.client].remove(job)
                self._count_left(job)
                self._remove_if_idle(job.tenant)

    def take(self) -> _FairJob | None:
        """Take the next job whose tenant and client are below their limits; None without any.

        It is of the tenant with the least recent cost.
        """
        now = self._clock()
        ready = [
            (key, tenant, queue)
            for key, tenant in self._tenants.items()
            if (queue := self._next_queue(tenant)) is not None
        ]
        if not ready:
            return None
        if len(ready) > 1:
            ready.sort(key=lambda each: self._costs.get(each[0], now))
        _key, tenant, queue = ready[0]
        return self._start(tenant, queue, now)

    def _next_queue(self, tenant: _Tenant) -> "deque[_FairJob] | None":
        """Return the queue of the client whose turn it is; None if no job may run."""
        if sum(tenant.running.values()) >= self._limits.running_of_tenant:
            return None
        allowed = self._limits.running_of_client
        queues = tenant.queues.items()
        return next((q for client, q in queues if tenant.running.get(client, 0) < allowed), None)

    def _start(self, tenant: _Tenant, queue: "deque[_FairJob]", now: float) -> _FairJob:
        job = queue.popleft()
        job.started_at = now
        self._costs.begin(job.tenant, now)
        tenant.running[job.client] = tenant.running.get(job.client, 0) + 1
        if queue:
            tenant.queues.move_to_end(job.client)
        self._tenants.move_to_end(job.tenant)
        self._count_left(job)
        return job

    def _count_left(self, job: _FairJob) -> None:
        """Update the counts and queues after a job was taken from its queue."""
        tenant = self._tenants[job.tenant]
        tenant.waiting -= 1
        self.waiting -= 1
        if not tenant.queues[job.client]:
            del tenant.queues[job.client]

    def _remove_if_idle(self, key: Hashable) -> None:
        """Remove a tenant without queued and running jobs."""
        tenant = self._tenants[key]
        if not tenant.queues and not tenant.running:
            del self._tenants[key]
