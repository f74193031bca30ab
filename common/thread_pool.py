"""Pool of daemon threads: the one mechanism for work off the event loop.

A ThreadPoolExecutor is not used, because the interpreter waits for its threads at exit: a file read
or a statement that hangs would keep the process alive.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

from prometheus_client import Gauge, Histogram

from common.metrics import DURATION_BUCKETS, REGISTRY

log = logging.getLogger(__name__)

Job = Callable[[], object]
T = TypeVar("T")

QUEUED_JOBS = Gauge(
    "flamewatch_pool_queued_jobs",
    "Jobs that wait in the queue of a pool.",
    ["pool"],
    registry=REGISTRY,
)
WAIT_SECONDS = Histogram(
    "flamewatch_pool_wait_seconds",
    "Time that a job waited in the queue of a pool.",
    ["pool"],
    buckets=DURATION_BUCKETS,
    registry=REGISTRY,
)


class PoolFull(Exception):
    """The pool has as many jobs as it may have."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} jobs are already queued or running, which is the limit.")
        self.limit = limit


class JobQueue(Protocol):
    """Thread-safe queue of jobs, which decides on their order."""

    def put(self, job: Job) -> None:
        """Add a job. An exception rejects it."""

    def get(self) -> Job:
        """Return the next job; wait until there is one that may run."""
        ...

    def qsize(self) -> int:
        """Return the number of jobs that wait."""
        ...


class FutureJob(Generic[T]):
    """Job that completes a future. Cancelling the future skips a job that has not started."""

    __slots__ = ("future", "queued_at", "work")

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.queued_at = time.monotonic()
        self.future: Future[T] = Future()

    def __call__(self) -> None:
        work = self.work
        del self.work  # frees its memory even while the caller has the future
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:  # whoever waits for the future raises it
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class ThreadPool:
    """At most `threads` threads, started on demand; usable from any event loop or thread.

    Jobs start in the order of `queue`, by default first in, first out.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        *,
        max_jobs: int | None = None,
        queue: JobQueue | None = None,
    ) -> None:
        """`max_jobs` limits the jobs of `submit` and `run` that are queued or running."""
        self._name, self._max_threads, self._max_jobs = name, threads, max_jobs
        self._queue: JobQueue = SimpleQueue() if queue is None else queue
        # Released after a job, acquired by `start` instead of starting a new thread.
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()  # guards `_thread_count` and `_job_count`
        self._thread_count = self._job_count = 0
        self._waits = WAIT_SECONDS.labels(name)
        QUEUED_JOBS.labels(name).set_function(self._queue.qsize)

    def start(self, job: Job) -> None:
        """Queue a job whose result nobody awaits. Its exception is logged."""
        self._queue.put(job)
        if self._thread_count < self._max_threads and not self._idle.acquire(blocking=False):
            self._start_thread()

    def submit(self, work: Callable[[], T]) -> "Future[T]":
        """Queue the work and return the future of its result. Raise PoolFull."""
        job = FutureJob(work)
        if self._max_jobs is not None:
            self._count_job(self._max_jobs)
            # Called for finished work and for work that is cancelled in the queue.
            job.future.add_done_callback(self._uncount_job)
        self.start(job)
        return job.future

    async def run(self, work: Callable[[], T]) -> T:
        """Run the work in a thread and return its result. Raise PoolFull.

        Cancelling the caller skips work that has not started; work that has started runs to its
        end.
        """
        return await asyncio.wrap_future(self.submit(work))

    def _count_job(self, limit: int) -> None:
        with self._lock:
            if self._job_count >= limit:
                raise PoolFull(limit)
            self._job_count += 1

    def _uncount_job(self, _future: "Future[T]") -> None:
        with self._lock:
            self._job_count -= 1

    def _start_thread(self) -> None:
        with self._lock:
            if self._thread_count == self._max_threads:
                return
            name = f"{self._name}_{self._thread_count}"
            threading.Thread(target=self._serve, name=name, daemon=True).start()
            self._thread_count += 1  # after start(), which fails if the system has no threads

    def _serve(self) -> None:
        while True:
            job = self._queue.get()
            queued_at = getattr(job, "queued_at", None)
            if queued_at is not None:
                self._waits.observe(time.monotonic() - queued_at)
            try:
                job()
            except Exception:
                log.exception("Job of the thread pool %s failed.", self._name)
            del job  # frees its memory now: the next job may come much later
            if self._thread_count < self._max_threads:
                self._idle.release()
