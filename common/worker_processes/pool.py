"""Pool of worker processes for coroutines, shared fairly between tenants.

FairThreads decides on the order of jobs. A tenant has one running job, so that the other workers
are for other tenants.
"""

import asyncio
from collections.abc import Callable, Hashable
from functools import partial
from typing import TypeVar, cast

from common.fair_threads import FairLimits, FairThreads
from common.worker_processes.messages import JobLimits, JobRequest
from common.worker_processes.program import WorkerProgram
from common.worker_processes.workers import JobResult, Workers, unwrap

T = TypeVar("T")

MIN_WORKERS = 2
_UNLIMITED = 2**62  # of queued jobs: the caller bounds their memory


class WorkerPool(Workers):
    """At most `workers` processes, at least two; usable from any event loop."""

    def __init__(
        self, name: str, program: WorkerProgram, workers: int, forked_with: Workers | None = None
    ) -> None:
        super().__init__(name, program, MIN_WORKERS, forked_with)
        limits = FairLimits(
            threads=max(MIN_WORKERS, workers),
            running_of_tenant=1,
            running_of_client=1,
            waiting_of_tenant=_UNLIMITED,
            waiting=_UNLIMITED,
        )
        self._threads = FairThreads(f"flamewatch-{name}", limits)

    async def run(
        self, tenant: Hashable, limits: JobLimits, function: Callable[..., T], *args: object
    ) -> T:
        """Call a function of a module in a worker process and return its result.

        Arguments are any values that can be pickled. Results, and the exceptions that the function
        may raise, are plain values and instances of the classes of the program.
        Raise these exceptions, LimitExceeded, JobCrashed, WorkerLost or JobFailed.
        """
        work = partial(self._perform_apart, tenant, JobRequest(function, args, limits))
        submitted = self._threads.submit(tenant, tenant, work)
        # What raises below must not hold the arguments by this frame.
        del function, args, work
        result = (await asyncio.wrap_future(submitted)).pop()
        try:
            return cast("T", unwrap(result, limits))
        finally:
            del result

    def _perform_apart(self, tenant: Hashable, request: JobRequest) -> list[JobResult]:
        """Return the result of `perform` in a list, out of which the caller takes it.

        The future is part of a reference cycle (with its callback), and would hold a result, or the
        frames of its exception, until a garbage collection.
        """
        return [self.perform_charged(tenant, request)]
