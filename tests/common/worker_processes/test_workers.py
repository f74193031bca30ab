"""Workers that are forked, parts of results, and cancelled jobs, with real processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.recent_costs import costs_of_process
from common.worker_processes import process
from common.worker_processes.messages import JobLimits, JobRequest
from common.worker_processes.program import WorkerProgram
from common.worker_processes.workers import COSTLY_SECONDS, JobResult, Outcome, WorkerEnd, Workers
from tests.common.worker_processes import jobs
from tests.leftovers import unchanged_subreaper
from tests.paths import ROOT
from tests.processes import is_running
from tests.waiting import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]
SECONDS = 60.0  # more than any test takes
MIB = 2**20
LIMITS = JobLimits(
    cpu_seconds=SECONDS, wall_seconds=SECONDS, memory_bytes=128 * MIB, result_bytes=MIB
)
SPAWNED = WorkerProgram(preload=(jobs.__name__,), classes=jobs.CLASSES, nice=0)
FORKED = replace(SPAWNED, is_forked=True, inherits_environment=True)


@contextmanager
def run_workers(program: WorkerProgram, at_start: int = 1) -> Iterator[Workers]:
    """Yield workers that start when they are needed, and stop them."""
    with unchanged_subreaper():
        made = Workers("test", program, at_start)
        yield made
        made.stop()


@pytest.fixture(params=[SPAWNED, FORKED], ids=["spawned", "forked"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    with run_workers(request.param) as made:
        yield made


@pytest.fixture
def forked() -> Iterator[Workers]:
    with run_workers(FORKED) as made:
        yield made


@pytest.fixture(params=[SPAWNED, FORKED], ids=["spawned", "forked"])
def costly_nice(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """Two workers of a program that lowers the priority of costly tenants from 1 to 4."""
    with run_workers(replace(request.param, nice=1, costly_nice=4), 2) as made:
        made.start()
        yield made


def perform(
    workers: Workers, function: Callable[..., object], *args: object, **more: Any
) -> JobResult:
    return workers.perform("tenant", JobRequest(function, args, more.pop("limits", LIMITS)), **more)


def perform_controlled(
    workers: Workers, function: Callable[..., object], *args: object, **more: Any
) -> JobResult:
    return workers.perform("tenant", JobRequest(function, args, LIMITS, True), **more)


def test_parts_of_a_result_arrive_in_their_order_before_it(workers: Workers) -> None:
    parts: list[int] = []
    result = perform_controlled(workers, jobs.send_numbers, 100, on_part=parts.append)
    assert (result.outcome, result.content) == (Outcome.DONE, 100)
    assert parts == [*range(100)]


def test_a_job_that_crashes_after_its_first_part_is_not_run_again(workers: Workers) -> None:
    parts: list[str] = []
    result = perform_controlled(workers, jobs.send_and_crash, on_part=parts.append)
    assert result.outcome is Outcome.CRASHED
    assert parts == ["begun"]


def test_cancelled_job_ends_itself_and_its_worker_stays(workers: Workers) -> None:
    begun = threading.Event()
    result = perform_controlled(
        workers,
        jobs.wait_until_cancelled,
        on_part=lambda _: begun.set(),
        is_cancelled=begun.is_set,
    )
    assert (result.outcome, result.content) == (Outcome.DONE, "cancelled")
    [worker] = workers.process_ids()
    assert perform(workers, jobs.process_id).content == worker


def test_a_cancelled_job_that_does_not_end_is_killed(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_CANCEL_SECONDS", 0.1)
    begun = threading.Event()
    result = perform_controlled(
        workers,
        jobs.ignore_cancellation,
        on_part=lambda _: begun.set(),
        is_cancelled=begun.is_set,
    )
    assert result.outcome is Outcome.CANCELLED


def test_the_cpu_time_of_a_job_is_that_of_its_worker(workers: Workers) -> None:
    result = perform(workers, jobs.use_cpu, 0.3)
    assert 0.3 <= result.cpu_seconds < 0.6


def test_a_tenant_gets_the_worker_of_its_last_job(workers: Workers, tmp_path: Path) -> None:
    end = tmp_path / "end"
    wait = JobRequest(jobs.wait_for, (str(end),), LIMITS)
    waiting = threading.Thread(target=workers.perform, args=("other", wait))
    waiting.start()
    until(lambda: workers._busy, SECONDS, "a busy worker")
    own = perform(workers, jobs.process_id).content
    end.touch()
    waiting.join()
    assert {perform(workers, jobs.process_id).content for _ in range(4)} == {own}


def test_costly_tenant_gets_low_priority_that_no_other_tenant_gets(costly_nice: Workers) -> None:
    job = JobRequest(jobs.priority, (), LIMITS)
    now = time.monotonic()
    costs_of_process.add("costly", COSTLY_SECONDS + 10, now)
    try:
        low = costly_nice.perform_charged("costly", job).content
        others = {costly_nice.perform_charged(name, job).content for name in ("a", "b", "a")}
        again = costly_nice.perform_charged("costly", job).content
    finally:
        costs_of_process.add("costly", -COSTLY_SECONDS - 10, now)
    base = os.getpriority(os.PRIO_PROCESS, 0)
    assert (low, again, others) == (base + 4, base + 4, {base + 1})


def test_idle_worker_of_low_priority_is_replaced(costly_nice: Workers) -> None:
    request = JobRequest(jobs.process_id, (), LIMITS)
    lowered = costly_nice.perform("costly", request, is_costly=True).content
    costly_nice.release_idle(0.0)
    assert costly_nice.statistics.ends[WorkerEnd.LOW_PRIORITY] == 1
    assert not is_running(lowered)
    assert len(costly_nice._idle) == 2


@pytest.mark.slow
def test_job_that_ends_its_forked_worker_gets_the_outcome(forked: Workers) -> None:
    limits = replace(LIMITS, cpu_seconds=1.0)
    assert perform(forked, jobs.compute, limits=limits).outcome is Outcome.CPU_LIMIT
    assert perform(forked, jobs.crash).outcome is Outcome.CRASHED
    assert perform(forked, jobs.allocate).outcome is Outcome.MEMORY_LIMIT
    assert perform(forked, jobs.length, b"abc").content == ("bytes", 3)


def test_a_forked_worker_shares_no_descriptor_of_the_fork_server(forked: Workers) -> None:
    opened = perform(forked, jobs.open_files).content
    assert not [name for name in opened.values() if name.startswith("socket:")]
    pipes = {name for name in opened.values() if name.startswith("pipe:")}
    # Its own three, the lifeline of the fork server, and perhaps the standard error of the tests.
    assert len(pipes) <= 5


def test_forked_workers_share_the_memory_of_their_imports(forked: Workers) -> None:
    perform(forked, jobs.process_id)
    [worker] = forked.process_ids()
    lines = Path(f"/proc/{worker}/smaps_rollup").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    assert sizes["Private_Dirty"] < sizes["Rss"] / 2


def test_a_fork_server_that_was_killed_is_started_again(forked: Workers) -> None:
    first = perform(forked, jobs.process_id).content
    fork_server = forked._fork_server
    assert fork_server is not None
    assert fork_server._process is not None
    fork_server._process.kill()
    fork_server._process.wait()
    os.kill(first, signal.SIGKILL)
    assert perform(forked, jobs.process_id).content != first


_PARENT = """
import threading
from tests.common.worker_processes import jobs
from tests.common.worker_processes.test_workers import FORKED, LIMITS, JobRequest, Workers

workers = Workers("test", FORKED, at_start=2)
workers.start()
first = workers.perform("a", JobRequest(jobs.process_id, (), LIMITS))
print(first.content, workers._fork_server._process.pid, flush=True)
workers.perform("a", JobRequest(jobs.compute, (), LIMITS))
"""


def test_forked_workers_and_their_server_end_when_their_parent_is_killed() -> None:
    command = [sys.executable, "-c", _PARENT]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        started = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(started) == 2
        parent.kill()
        parent.wait()
    until(lambda: not any(map(is_running, started)), 10.0, "the end of the workers")


_FORKED_EARLY = """
import os
import threading
from common.worker_processes.fork_server import ForkServer, adopt_orphans
from tests.common.worker_processes import jobs
from tests.common.worker_processes.test_workers import FORKED, LIMITS, JobRequest, Workers

adopt_orphans()
fork_server = ForkServer(FORKED)
if {threads}:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print(fork_server.fork_this_process(), flush=True)
opened = os.open("/dev/full", os.O_RDONLY)
workers = Workers("test", FORKED, at_start=1, fork_server=fork_server)
first = workers.perform("a", JobRequest(jobs.process_id, (), LIMITS)).content
print(first, fork_server._process.pid, flush=True)
print(*workers.perform("a", JobRequest(jobs.open_files, (), LIMITS)).content.values(), flush=True)
workers.perform("a", JobRequest(jobs.compute, (), LIMITS))
"""


@pytest.mark.parametrize("threads", [False, True])
def test_early_fork_of_a_process_of_one_thread_forks_its_workers(threads: bool) -> None:
    code = _FORKED_EARLY.format(threads=threads)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == f"{not threads}\n"
        started = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(started) == 2
        opened = parent.stdout.readline().split()
        assert opened
        assert not [name for name in opened if name.startswith(("socket:", "/dev/full"))]
        parent.kill()
        parent.wait()
    until(lambda: not any(map(is_running, started)), 10.0, "the end of the workers")
