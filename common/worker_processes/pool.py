"""Pool of worker processes, shared fairly between tenants.

For work on bytes of strangers that may take any amount of time and memory, or crash: at a limit its
process is killed and replaced, while the threads of this process serve others. A thread of the pool
waits for each running job; FairThreads decides on the order. A tenant has one running job, so that
the other workers are for other tenants.

Workers are started by exec, never by fork: a fork of a process with threads copies their locks.
"""

import asyncio
import logging
import signal
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from common.fair_threads import FairLimits, FairThreads
from common.worker_processes.messages import JobLimits, JobRequest, ReplyKind, encode_request
from common.worker_processes.process import (
    Death,
    WallTimePassed,
    WorkerEnded,
    WorkerProcess,
    WorkerProgram,
)

log = logging.getLogger(__name__)

T = TypeVar("T")

MIN_WORKERS = 2
START_SECONDS = 60.0  # an import takes 0.3 s on an idle machine
_ATTEMPTS = 2
_UNLIMITED = 2**62  # of queued jobs: the caller bounds their memory
# Signals by which a process ends that does something invalid.
_CRASHES = frozenset(
    {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS}
)
# Resident bytes, as a share of the limit of memory, from which a crash is taken for that limit:
# compiled code that gets no memory aborts, often when it doubles a buffer.
_LIMIT_SHARE = 0.25


class Outcome(StrEnum):
    """End of a job; a label of a metric."""

    DONE = "done"
    REJECTED = "rejected"  # by an exception that the job may raise
    FAILED = "failed"  # by another exception
    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    MEMORY_LIMIT = "memory_limit"
    RESULT_LIMIT = "result_limit"
    CRASHED = "crashed"  # two workers, one after another
    LOST = "lost"  # workers that ended for no reason that is known


_OUTCOMES = {
    ReplyKind.DONE: Outcome.DONE,
    ReplyKind.REJECTED: Outcome.REJECTED,
    ReplyKind.FAILED: Outcome.FAILED,
    ReplyKind.MEMORY_LIMIT: Outcome.MEMORY_LIMIT,
    ReplyKind.RESULT_LIMIT: Outcome.RESULT_LIMIT,
}


class LimitExceeded(Exception):
    """Job above a limit of its own; another try would end the same."""

    def __init__(self, outcome: Outcome, limits: JobLimits) -> None:
        super().__init__(f"{outcome.value} of {limits}")
        self.outcome, self.limits = outcome, limits


class JobCrashed(Exception):
    """Job that has crashed two workers."""


class WorkerLost(Exception):
    """Job whose worker could not be started, or was ended by something else than the job."""

    def __init__(self) -> None:
        super().__init__("A worker process of the server has ended unexpectedly. Try again later.")


class JobFailed(Exception):
    """Job that raised an exception that it should not; the text has its traceback."""


@dataclass(slots=True)
class PoolStatistics:
    """Counts since the start of this process."""

    starts: int = 0  # of worker processes
    jobs: Counter[Outcome] = field(default_factory=Counter)


class _Result(NamedTuple):
    outcome: Outcome
    content: Any = None


class WorkerPool:
    """At most `workers` processes, at least two; usable from any event loop."""

    def __init__(self, name: str, program: WorkerProgram, workers: int) -> None:
        self.name, self.statistics = name, PoolStatistics()
        self._program = program
        threads = max(MIN_WORKERS, workers)
        limits = FairLimits(
            threads=threads,
            running_of_tenant=1,
            running_of_client=1,
            waiting_of_tenant=_UNLIMITED,
            waiting=_UNLIMITED,
        )
        self._threads = FairThreads(f"flamewatch-{name}", limits)
        self._lock = threading.Lock()  # guards the two lists and the statistics
        self._idle: list[WorkerProcess] = []
        self._busy: list[WorkerProcess] = []

    def start(self) -> None:
        """Start the first workers without waiting for them."""
        while len(self._idle) + len(self._busy) < MIN_WORKERS:
            if not self._add_idle():
                return

    def stop(self) -> None:
        """End all workers; running jobs are lost."""
        with self._lock:
            idle, self._idle = self._idle, []
            busy = [*self._busy]
        for worker in idle:
            worker.end()
        for worker in busy:
            worker.kill()

    def process_ids(self) -> list[int]:
        with self._lock:
            return [worker.pid for worker in (*self._idle, *self._busy)]

    async def run(
        self, tenant: Hashable, limits: JobLimits, function: Callable[..., T], *args: object
    ) -> T:
        """Call a function of a module in a worker process and return its result.

        Arguments are any values that can be pickled. Results, and the exceptions that the function
        may raise, are plain values and instances of the classes of the program.
        Raise these exceptions, LimitExceeded, JobCrashed, WorkerLost or JobFailed.
        """
        work = partial(self._perform, JobRequest(function, args, limits))
        submitted = self._threads.submit(tenant, tenant, work)
        # What raises below must not hold the arguments by this frame.
        del function, args, work
        result = (await asyncio.wrap_future(submitted)).pop()
        try:
            return cast("T", _unwrap(result, limits))
        finally:
            del result

    def _perform(self, request: JobRequest) -> list[_Result]:
        """Run a job, again on another worker if its first one crashes or is lost.

        Return the result in a list, out of which the caller takes it: the future is part of a
        reference cycle (with its callback), and would hold a result, or the frames of its
        exception, until a garbage collection.
        """
        parts = encode_request(request)
        outcomes: Counter[Outcome] = Counter()
        while True:
            result = self._attempt(parts, request.limits)
            outcomes[result.outcome] += 1
            is_final = result.outcome not in {Outcome.CRASHED, Outcome.LOST}
            if is_final or outcomes[result.outcome] == _ATTEMPTS:
                with self._lock:
                    self.statistics.jobs[result.outcome] += 1
                return [result]

    def _attempt(self, parts: Sequence[memoryview], limits: JobLimits) -> _Result:
        try:
            worker = self._take()
        except OSError as error:
            log.warning("No worker process of %s could be started: %s", self.name, error)
            return _Result(Outcome.LOST)
        try:
            worker.wait_until_ready(START_SECONDS)
        except (WorkerEnded, WallTimePassed) as error:
            self._replace(worker, f"did not start: {error}")
            return _Result(Outcome.LOST)
        try:
            reply, is_last = worker.perform(parts, limits.wall_seconds, limits.result_bytes)
        except WallTimePassed:
            self._replace(worker)
            return _Result(Outcome.WALL_LIMIT)
        except WorkerEnded as error:
            death = self._replace(worker)
            outcome = _outcome(death, worker.memory + int(limits.memory_bytes * _LIMIT_SHARE))
            if outcome in {Outcome.CRASHED, Outcome.LOST}:
                name = signal.strsignal(death.signal) or "exit" if death.signal else "exit"
                log.warning("A worker process of %s ended: %s (%s)", self.name, name, error)
            return _Result(outcome)
        if is_last:
            self._replace(worker)
        else:
            self._give_back(worker)
        return _Result(_OUTCOMES[reply.kind], reply.content)

    def _take(self) -> WorkerProcess:
        with self._lock:
            worker = self._idle.pop() if self._idle else self._start_worker()
            self._busy.append(worker)
            return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._busy.remove(worker)
            self._idle.append(worker)

    def _replace(self, worker: WorkerProcess, reason: str = "") -> Death:
        """End a worker, and start another one for the next job."""
        death = worker.end()
        with self._lock:
            self._busy.remove(worker)
        if reason:
            log.warning("A worker process of %s %s", self.name, reason)
            return death  # the next job starts another one
        self._add_idle()
        return death

    def _add_idle(self) -> bool:
        """Start a worker for a later job; without it the job starts one. Return True if it starts.

        It is used last, so that it has time for its imports.
        """
        try:
            with self._lock:
                self._idle.insert(0, self._start_worker())
        except OSError as error:
            log.warning("No worker process of %s could be started: %s", self.name, error)
            return False
        return True

    def _start_worker(self) -> WorkerProcess:
        worker = WorkerProcess(self._program)
        self.statistics.starts += 1
        return worker


def _outcome(death: Death, memory: int) -> Outcome:
    """Return the reason for which a worker ended while it ran a job."""
    if death.signal == signal.SIGXCPU:
        return Outcome.CPU_LIMIT
    # SIGKILL: by the kernel, where the machine has less memory than the limit allows.
    if death.peak_bytes >= memory and death.signal in {*_CRASHES, signal.SIGKILL}:
        return Outcome.MEMORY_LIMIT
    return Outcome.CRASHED if death.signal in _CRASHES else Outcome.LOST


def _unwrap(result: _Result, limits: JobLimits) -> Any:
    """Return the content of a result, or raise what it stands for."""
    outcome, content = result
    if outcome is Outcome.DONE:
        return content
    try:
        if outcome is Outcome.REJECTED and isinstance(content, Exception):
            raise content
        if outcome is Outcome.FAILED:
            raise JobFailed(f"A job of a worker process failed:\n{content}")
        if outcome is Outcome.CRASHED:
            raise JobCrashed
        if outcome is Outcome.LOST:
            raise WorkerLost
        raise LimitExceeded(outcome, limits)
    finally:
        del content, result
