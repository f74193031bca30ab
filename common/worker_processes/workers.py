"""Worker processes that run one job each, for work that may take any time and memory, or crash.

At a limit the process of a job is killed and replaced, while the threads of this process serve
others. A thread of the caller waits for each running job.

Workers are started by exec, or forked by a process of one thread that was started so (see
fork_server.py): a fork of this process would copy the locks of its threads.
"""

import logging
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from common.recent_costs import costs_of_process
from common.worker_processes.fork_server import ForkServer, adopt_orphans
from common.worker_processes.messages import JobLimits, JobRequest, ReplyKind, encode_request
from common.worker_processes.process import (
    Death,
    WallTimePassed,
    WorkerEnded,
    WorkerProcess,
)
from common.worker_processes.program import WorkerProgram

log = logging.getLogger(__name__)

MAX_AGE_SECONDS = 6 * 3600.0  # of a worker: libraries leak
START_SECONDS = 60.0  # an import takes 0.3 s on an idle machine
_ATTEMPTS = 2
# Of a worker without a job: forking another one takes 10 ms of CPU time.
_MAX_IDLE_GROWTH_BYTES = 8 * 2**20
# Signals by which a process ends that does something invalid.
_CRASHES = frozenset(
    {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS}
)
# Resident bytes, as a share of the limit of memory, from which a crash is taken for that limit:
# compiled code that gets no memory aborts, often when it doubles a buffer.
_LIMIT_SHARE = 0.25
# Recent cost from which a tenant's jobs get the lower priority of the program: a third of a core
# all the time, at the half-life of 60 s.
COSTLY_SECONDS = 30.0


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
    CANCELLED = "cancelled"  # and killed, because it did not end soon
    LOST = "lost"  # workers that ended for no reason that is known


class WorkerEnd(StrEnum):
    """Reason for which a worker ended after its job had; with Outcome the labels of a metric."""

    GROWN = "grown"  # by its jobs, or its caches while it was idle
    SURPLUS = "surplus"  # was needed for more jobs at a time than usual
    AGED = "aged"
    LOW_PRIORITY = "low_priority"  # had the jobs of a costly tenant, which is gone


# Outcomes of a job that end its worker.
FATAL_OUTCOMES = (
    *(Outcome.CPU_LIMIT, Outcome.WALL_LIMIT, Outcome.MEMORY_LIMIT),
    *(Outcome.CRASHED, Outcome.CANCELLED, Outcome.LOST),
)
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
    ends: Counter["Outcome | WorkerEnd"] = field(default_factory=Counter)


class JobResult(NamedTuple):
    outcome: Outcome
    content: Any = None
    cpu_seconds: float = 0.0  # of the worker


class Workers:
    """Worker processes of one program: as many as run jobs at a time, and idle ones."""

    def __init__(
        self,
        name: str,
        program: WorkerProgram,
        at_start: int,
        forked_with: "Workers | None" = None,
        fork_server: ForkServer | None = None,
    ) -> None:
        """Create the object; `at_start` workers are started by `start`, others on demand.

        The fork server of `forked_with`, which has imported the modules of this program too, forks
        these workers; without it they have one of their own, `fork_server` or, if the program says
        so, one that is started by exec.
        """
        self.name, self.statistics = name, PoolStatistics()
        self._program, self._at_start = program, at_start
        self._forked_with = forked_with
        self._fork_server = fork_server
        self._fork_server_lock = threading.Lock()
        self._lock = threading.Lock()  # guards the two lists and the statistics
        self._idle: list[WorkerProcess] = []
        self._busy: list[WorkerProcess] = []

    def start(self) -> None:
        """Start the first workers, as far as they are missing, without waiting for them."""
        while len(self._idle) + len(self._busy) < self._at_start:
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
        if self._fork_server is not None:
            self._fork_server.stop()

    def release_idle(self, seconds: float) -> None:
        """End workers without a job for so long that are more than at the start, have grown, or
        have a low priority.
        """
        with self._lock:
            surplus = len(self._idle) + len(self._busy) - self._at_start
            released: list[tuple[WorkerProcess, WorkerEnd]] = []
            for worker in self._idle:
                if not worker.is_ready or time.monotonic() - worker.idle_since < seconds:
                    continue
                if len(released) < surplus:
                    released.append((worker, WorkerEnd.SURPLUS))
                elif worker.has_low_priority:
                    released.append((worker, WorkerEnd.LOW_PRIORITY))
                elif worker.growth_bytes > _MAX_IDLE_GROWTH_BYTES:
                    released.append((worker, WorkerEnd.GROWN))
            for worker, reason in released:
                self._idle.remove(worker)
                self.statistics.ends[reason] += 1
        for worker, _reason in released:
            worker.end()
        self.start()

    def process_ids(self) -> list[int]:
        """Return the ids of the workers, without those that are being forked."""
        with self._lock:
            return [worker.pid for worker in (*self._idle, *self._busy) if worker.pid]

    def perform(
        self,
        tenant: Hashable,
        request: JobRequest,
        on_part: Callable[[Any], None] | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
        is_costly: bool = False,
    ) -> JobResult:
        """Run a job, again on another worker if its first one crashes or is lost.

        A job whose first parts went to `on_part` is not run again. The tenant's job goes to the
        worker that had its last one, if that is idle: its caches have what the tenant reads. Jobs
        of costly tenants get the priority that the program has for them.
        """
        parts = encode_request(request)
        outcomes: Counter[Outcome] = Counter()
        sent: list[None] = []

        def pass_on(part: Any) -> None:
            sent.append(None)
            if on_part is not None:
                on_part(part)

        cpu_seconds = 0.0
        while True:
            result = self._attempt(tenant, is_costly, parts, request.limits, pass_on, is_cancelled)
            cpu_seconds += result.cpu_seconds
            outcomes[result.outcome] += 1
            is_final = result.outcome not in {Outcome.CRASHED, Outcome.LOST} or sent
            if is_final or outcomes[result.outcome] == _ATTEMPTS:
                with self._lock:
                    self.statistics.jobs[result.outcome] += 1
                return result._replace(cpu_seconds=cpu_seconds)

    def perform_charged(
        self,
        tenant: Hashable,
        request: JobRequest,
        on_part: Callable[[Any], None] | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> JobResult:
        """Run a job as `perform` does, and charge its CPU time to the tenant's recent cost.

        Call it in a thread of FairThreads that runs a job of the tenant: the time that the thread
        waits for the worker costs the tenant nothing.
        """
        began = time.monotonic()
        cpu_seconds = 0.0
        try:
            is_costly = costs_of_process.get(tenant, began) > COSTLY_SECONDS
            result = self.perform(tenant, request, on_part, is_cancelled, is_costly)
            cpu_seconds = result.cpu_seconds
            return result
        finally:
            ended = time.monotonic()
            costs_of_process.add(tenant, cpu_seconds - (ended - began), ended)

    def _attempt(
        self,
        tenant: Hashable,
        is_costly: bool,
        parts: Sequence[memoryview],
        limits: JobLimits,
        on_part: Callable[[Any], None],
        is_cancelled: Callable[[], bool],
    ) -> JobResult:
        try:
            worker = self._take(tenant, is_costly)
        except OSError as error:
            log.warning("No worker process of %s could be started: %s", self.name, error)
            return JobResult(Outcome.LOST)
        try:
            worker.wait_until_ready(START_SECONDS)
        except (WorkerEnded, WallTimePassed) as error:
            log.warning("A worker process of %s did not start: %s", self.name, error)
            self._end(worker, Outcome.LOST)  # the next job starts another one
            return JobResult(Outcome.LOST)
        nice = self._program.costly_nice
        if is_costly and nice is not None and not worker.has_low_priority:
            worker.lower_priority(nice)
        try:
            final = worker.perform(
                parts, limits.wall_seconds, limits.result_bytes, on_part, is_cancelled
            )
        except WallTimePassed:
            outcome = Outcome.CANCELLED if is_cancelled() else Outcome.WALL_LIMIT
            death = self._replace(worker, outcome)
            return JobResult(outcome, cpu_seconds=death.cpu_seconds)
        except WorkerEnded as error:
            death = worker.end()
            outcome = _outcome(death, worker.memory + int(limits.memory_bytes * _LIMIT_SHARE))
            self._replace(worker, outcome)
            if outcome in {Outcome.CRASHED, Outcome.LOST}:
                name = signal.strsignal(death.signal) or "exit" if death.signal else "exit"
                log.warning("A worker process of %s ended: %s (%s)", self.name, name, error)
            return JobResult(outcome, cpu_seconds=death.cpu_seconds)
        if final.is_last:
            is_limit = final.reply.kind is ReplyKind.MEMORY_LIMIT
            self._replace(worker, Outcome.MEMORY_LIMIT if is_limit else WorkerEnd.GROWN)
        elif time.monotonic() - worker.started_at > MAX_AGE_SECONDS:
            self._replace(worker, WorkerEnd.AGED)
        else:
            self._give_back(worker)
        return JobResult(_OUTCOMES[final.reply.kind], final.reply.content, final.cpu_seconds)

    def _take(self, tenant: Hashable, is_costly: bool) -> WorkerProcess:
        def get_rank(worker: WorkerProcess) -> tuple[bool, bool, bool]:
            is_other_priority = worker.has_low_priority != is_costly
            return is_other_priority, worker.tenant != tenant, not worker.is_ready

        with self._lock:
            # One of its priority, the tenant's own, the one that had no job for the longest time,
            # or one that starts.
            idle = sorted(self._idle, key=get_rank)
            if idle:
                self._idle.remove(idle[0])
            worker = idle[0] if idle else self._start_worker()
            worker.tenant = tenant
            self._busy.append(worker)
            return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._busy.remove(worker)
            worker.idle_since = time.monotonic()
            self._idle.append(worker)

    def _replace(self, worker: WorkerProcess, reason: "Outcome | WorkerEnd") -> Death:
        """End a busy worker, and start another one for the next job."""
        death = self._end(worker, reason)
        self._add_idle()
        return death

    def _end(self, worker: WorkerProcess, reason: "Outcome | WorkerEnd") -> Death:
        death = worker.end()
        with self._lock:
            self._busy.remove(worker)
            self.statistics.ends[reason] += 1
        return death

    def _add_idle(self) -> bool:
        """Start a worker for a later job; without it the job starts one. Return True if it starts.

        It is used last, so that it has time for its imports.
        """
        try:
            with self._lock:
                self._idle.append(self._start_worker())
        except OSError as error:
            log.warning("No worker process of %s could be started: %s", self.name, error)
            return False
        return True

    def _start_worker(self) -> WorkerProcess:
        worker = WorkerProcess(self._program, self._get_fork_server())
        self.statistics.starts += 1
        return worker

    def _get_fork_server(self) -> ForkServer | None:
        """Return the process that forks the workers; None if the system does not allow it."""
        if self._forked_with is not None:
            return self._forked_with._get_fork_server()
        with self._fork_server_lock:
            if self._fork_server is None and self._program.is_forked and adopt_orphans():
                self._fork_server = ForkServer(self._program)
            return self._fork_server


def _outcome(death: Death, memory: int) -> Outcome:
    """Return the reason for which a worker ended while it ran a job."""
    if death.signal == signal.SIGXCPU:
        return Outcome.CPU_LIMIT
    # SIGKILL: by the kernel, where the machine has less memory than the limit allows.
    if death.peak_bytes >= memory and death.signal in {*_CRASHES, signal.SIGKILL}:
        return Outcome.MEMORY_LIMIT
    return Outcome.CRASHED if death.signal in _CRASHES else Outcome.LOST


def unwrap(result: JobResult, limits: JobLimits) -> Any:
    """Return the content of a result, or raise what it stands for."""
    outcome, content = result.outcome, result.content
    if outcome is Outcome.DONE:
        return content
    try:
        if outcome is Outcome.REJECTED and isinstance(content, Exception):
            raise content
        if outcome is Outcome.FAILED:
            raise JobFailed(f"A job of a worker process failed:\n{content}")
        if outcome is Outcome.CRASHED:
            raise JobCrashed
        if outcome in {Outcome.LOST, Outcome.CANCELLED}:
            raise WorkerLost
        raise LimitExceeded(outcome, limits)
    finally:
        del content, result
