"""Thread pool shared fairly between tenants and their clients.

Each client of each tenant has a queue. A free thread takes the next job round-robin by tenant and,
within the tenant, round-robin by client. Tenants and clients at their limit of running jobs are
skipped, so that long jobs of one tenant leave threads for the others.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class QueueFull(Exception):
    """The limit of queued jobs is reached, for this tenant (`of_tenant`) or for all together."""

    def __init__(self, of_tenant: bool, limit: int) -> None:
        super().__init__(limit)
        self.of_tenant = of_tenant
        self.limit = limit


@dataclass(frozen=True, slots=True)
class FairLimits:
    """Limits of running and queued jobs."""

    threads: int
    running_of_tenant: int
    running_of_client: int
    waiting_of_tenant: int
    waiting: int  # of all tenants together


@dataclass(slots=True)
class _Job(Generic[T]):
    tenant: Hashable
    client: Hashable
    work: Callable[[], T]
    future: "Future[T]"
    started: bool = False


@dataclass(slots=True)
class _Tenant:
    # By client, in round-robin order; empty queues are removed.
    queues: "OrderedDict[Hashable, deque[_Job[Any]]]" = field(default_factory=OrderedDict)
    running: dict[Hashable, int] = field(default_factory=dict)
    waiting: int = 0


class FairThreads:
    """Pool of daemon threads, which are started on demand and do not delay the process's exit."""

    def __init__(self, name: str, limits: FairLimits) -> None:
        self.limits = limits
        self._name = name
        self._tenants: OrderedDict[Hashable, _Tenant] = OrderedDict()  # in round-robin order
        self._waiting = 0
        self._changed = threading.Condition()
        self._started = 0
        self._idle = 0

    def submit(self, tenant: Hashable, client: Hashable, work: Callable[[], T]) -> "Future[T]":
        """Queue the work. Raise QueueFull.

        Cancelling the future removes work that has not started from the queue.
        """
        job = _Job(tenant, client, work, Future[T]())
        with self._changed:
            of = self._tenants.get(tenant) or _Tenant()
            if of.waiting >= self.limits.waiting_of_tenant:
                raise QueueFull(True, self.limits.waiting_of_tenant)
            if self._waiting >= self.limits.waiting:
                raise QueueFull(False, self.limits.waiting)
            self._tenants[tenant] = of
            of.queues.setdefault(client, deque()).append(job)
            of.waiting += 1
            self._waiting += 1
            self._start_if_needed()
            self._changed.notify()
        job.future.add_done_callback(lambda _: self._forget_cancelled(job))
        return job.future

    def _start_if_needed(self) -> None:
        if self._waiting > self._idle and self._started < self.limits.threads:
            name = f"{self._name}_{self._started}"
            threading.Thread(target=self._run, name=name, daemon=True).start()
            self._started += 1  # counted after start(), which fails if the system has no threads

    def _forget_cancelled(self, job: _Job[Any]) -> None:
        if not job.future.cancelled():
            return
        with self._changed:
            if not job.started:
                self._tenants[job.tenant].queues[job.client].remove(job)
                self._left_queue(job)
                self._tidy(job.tenant)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                while (job := self._next()) is None:
                    self._changed.wait()
                self._idle -= 1
            if job.future.set_running_or_notify_cancel():
                _do(job)
            with self._changed:
                self._ended(job)
            del job  # frees its memory now: the next job may come much later

    def _next(self) -> _Job[Any] | None:
        """Take the first job, in round-robin order, whose tenant and client are below their limits.

        Return None if there is none.
        """
        for tenant, of in self._tenants.items():
            if sum(of.running.values()) >= self.limits.running_of_tenant:
                continue
            for client, queue in of.queues.items():
                if of.running.get(client, 0) < self.limits.running_of_client:
                    return self._take(tenant, of, client, queue)
        return None

    def _take(
        self, tenant: Hashable, of: _Tenant, client: Hashable, queue: "deque[_Job[Any]]"
    ) -> _Job[Any]:
        job = queue.popleft()
        job.started = True
        of.running[client] = of.running.get(client, 0) + 1
        if queue:
            of.queues.move_to_end(client)
        self._tenants.move_to_end(tenant)
        self._left_queue(job)
        return job

    def _left_queue(self, job: _Job[Any]) -> None:
        """Update the counts and queues after a job was taken from its queue."""
        of = self._tenants[job.tenant]
        of.waiting -= 1
        self._waiting -= 1
        if not of.queues[job.client]:
            del of.queues[job.client]

    def _ended(self, job: _Job[Any]) -> None:
        """Update the counts after a job has ended, and wake a thread."""
        of = self._tenants[job.tenant]
        of.running[job.client] -= 1
        if not of.running[job.client]:
            del of.running[job.client]
        self._tidy(job.tenant)
        self._changed.notify()  # the tenant or client may be below its limit now

    def _tidy(self, tenant: Hashable) -> None:
        """Remove a tenant without queued and running jobs."""
        of = self._tenants[tenant]
        if not of.queues and not of.running:
            del self._tenants[tenant]


def _do(job: _Job[Any]) -> None:
    try:
        result = job.work()
    except BaseException as error:
        job.future.set_exception(error)
    else:
        job.future.set_result(result)
