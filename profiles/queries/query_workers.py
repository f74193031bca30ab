"""Queries in worker processes, which are killed at a limit and have a GIL of their own.

A QueryJob is given to `run_query` as its work. Where the workers have been started, the thread that
runs it waits for one of them; elsewhere (commands, tests, a server with
FLAMEWATCH_QUERY_WORKERS=0) it calls the function itself.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from django.conf import settings

from common.database_pool import with_usable_connection
from common.fair_threads import FairLimits
from common.worker_processes.fork_server import ForkServer, adopt_orphans
from common.worker_processes.messages import JobControl, JobLimits, JobRequest
from common.worker_processes.program import WorkerProgram
from common.worker_processes.workers import LimitExceeded, Outcome, Workers, unwrap
from profiles.queries.context import NO_PROJECT, DeadlinePassed, QueryContext
from profiles.queries.query_record import QueryFacts, QueryRecord
from profiles.queries.selection import InvalidQuery

T = TypeVar("T")

MAX_RESULT_BYTES = 256 * 2**20
_GRACE_SECONDS = 5.0  # after the deadline, for a query that does not check it
_NO_DEADLINE_SECONDS = 120.0  # of pages: their queries have deadlines of their own


def get_query_limits(workers: int) -> FairLimits:
    """Return the limits of the threads that run queries, or wait for their workers."""
    threads = workers or 4
    return FairLimits(
        threads=threads,
        running_of_tenant=max(1, threads // 2),
        running_of_client=1,  # a second query of the same user or API key waits
        waiting_of_tenant=64,
        waiting=512,
    )


@dataclass(frozen=True, slots=True)
class QueryJob(Generic[T]):
    """Call of a module's function with a QueryContext and values that can be pickled.

    With `on_part`, the function also gets a function that sends parts of the result at once, as its
    second argument.
    """

    function: Callable[..., T]
    args: tuple[object, ...]
    on_part: Callable[[Any], None] | None = None

    def __call__(self, context: QueryContext) -> T:
        """Return the result. Raise what the function raises, InvalidQuery or DeadlinePassed.

        Raise JobCrashed, JobFailed or WorkerLost if a worker has failed.
        """
        return self.run_here(context) if _workers is None else _perform(_workers, self, context)

    def run_here(self, context: QueryContext) -> T:
        """Return the result of the function, called in this process."""
        if self.on_part is None:
            return self.function(context, *self.args)
        return self.function(context, self.on_part, *self.args)


@dataclass(frozen=True, slots=True)
class _Caller:
    """Fields of a QueryContext that the worker needs."""

    project: int
    project_id: str
    deadline: float | None  # time.monotonic(), which all processes of a machine share
    kind: str


def fork_early(program: WorkerProgram) -> None:
    """Fork the process that forks the workers, if possible: they share the imports of this one.

    See ForkServer.fork_this_process.
    """
    global _fork_server
    if adopt_orphans():
        fork_server = ForkServer(program)
        _fork_server = fork_server if fork_server.fork_this_process() else None


def start(program: WorkerProgram, count: int) -> None:
    """Start the worker processes. Queries that are running then stay in this process."""
    global _workers
    _workers = Workers("query", program, at_start=count, fork_server=_fork_server)
    _workers.start()


def stop() -> None:
    """End the worker processes; running queries are lost."""
    global _workers
    if _workers is not None:
        _workers.stop()
        _workers = None


def running_workers() -> Workers | None:
    return _workers


def _perform(workers: Workers, job: QueryJob[T], context: QueryContext) -> T:
    caller = _Caller(context.project, context.project_id, context.deadline, context.record.kind)
    left = _NO_DEADLINE_SECONDS
    if context.deadline is not None:
        left = max(0.0, context.deadline - time.monotonic())
    limits = JobLimits(
        cpu_seconds=2 * (left + _GRACE_SECONDS),  # its threads may use several cores
        wall_seconds=left + _GRACE_SECONDS,
        memory_bytes=settings.QUERY_MEMORY_BYTES,
        result_bytes=MAX_RESULT_BYTES,
    )
    sends_parts = job.on_part is not None
    request = JobRequest(
        _run_in_worker, (job.function, job.args, sends_parts, caller), limits, is_controlled=True
    )
    perform = workers.perform if context.project == NO_PROJECT else workers.perform_charged
    tenant = ("project", context.project)
    result = perform(tenant, request, job.on_part, context.cancelled.is_set)
    context.record.cpu_seconds += result.cpu_seconds
    if result.outcome is Outcome.CANCELLED:
        raise DeadlinePassed
    try:
        value, error, facts = unwrap(result, limits)
    except LimitExceeded as exceeded:
        raise _explain(exceeded) from None
    context.record.facts = facts
    if error is not None:
        raise error
    found: T = value
    return found


def _run_in_worker(
    control: JobControl,
    function: Callable[..., object],
    args: tuple[object, ...],
    sends_parts: bool,
    caller: _Caller,
) -> tuple[object, Exception | None, QueryFacts]:
    """Run a job in a worker process, with a database connection of its own."""
    record = QueryRecord(caller.kind, QueryFacts(project_id=caller.project_id))
    context = QueryContext(
        caller.project,
        caller.project_id,
        caller.deadline,
        cancelled=control.cancelled,
        record=record,
    )
    job = QueryJob(function, args, control.send if sends_parts else None)
    try:
        value = with_usable_connection(partial(job.run_here, context))
    except (DeadlinePassed, InvalidQuery) as error:
        return None, error.with_traceback(None), record.facts
    return value, None, record.facts


def _explain(exceeded: LimitExceeded) -> Exception:
    """Return the error of a query that its process's limits have ended."""
    match exceeded.outcome:
        case Outcome.MEMORY_LIMIT:
            return InvalidQuery(
                f"FLAMEWATCH_QUERY_MEMORY_BYTES allows {exceeded.limits.memory_bytes:,} bytes of "
                "memory for a query, and this one needs more. Try a shorter time range, or fewer "
                "zones and versions."
            )
        case Outcome.RESULT_LIMIT:
            return InvalidQuery(
                f"The result of this query has more than {MAX_RESULT_BYTES:,} bytes. Try a "
                "shorter time range, or fewer zones and versions."
            )
        case _:
            return DeadlinePassed()


_workers: Workers | None = None
_fork_server: ForkServer | None = None
