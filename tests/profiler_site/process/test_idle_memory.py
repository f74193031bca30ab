"""Memory that is released while the server and its workers are idle, with real processes."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.worker_processes import worker
from common.worker_processes.messages import JobLimits, JobRequest
from common.worker_processes.workers import WorkerEnd, Workers
from profiler_site.process import idle_memory
from profiler_site.process.idle_memory import IdleMemory
from tests.common.worker_processes import jobs
from tests.common.worker_processes.test_workers import FORKED, run_workers
from tests.waiting import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]
SECONDS = 60.0
MIB = 2**20
LIMITS = JobLimits(SECONDS, SECONDS, 256 * MIB, MIB)
GROWING = replace(FORKED, max_growth_bytes=128 * MIB)


@pytest.fixture
def workers() -> Iterator[Workers]:
    with run_workers(GROWING) as made:
        yield made


def process_id(workers: Workers) -> int:
    return int(workers.perform("tenant", JobRequest(jobs.process_id, (), LIMITS)).content)


def keep_memory(workers: Workers, size: int) -> None:
    workers.perform("tenant", JobRequest(jobs.keep_memory, (size,), LIMITS))


def test_idle_worker_that_has_grown_is_replaced(workers: Workers) -> None:
    first = process_id(workers)
    keep_memory(workers, 32 * MIB)
    assert process_id(workers) == first
    workers.release_idle(0.0)
    assert process_id(workers) != first
    assert workers.statistics.ends[WorkerEnd.GROWN] == 1


def test_idle_worker_that_has_not_grown_stays(workers: Workers) -> None:
    first = process_id(workers)
    workers.release_idle(0.0)
    assert process_id(workers) == first


def test_worker_with_a_recent_job_stays(workers: Workers) -> None:
    keep_memory(workers, 32 * MIB)
    first = process_id(workers)
    workers.release_idle(SECONDS)
    assert process_id(workers) == first


def test_workers_beyond_those_of_the_start_end_when_they_are_idle(
    workers: Workers, tmp_path: Path
) -> None:
    end = tmp_path / "end"
    wait = JobRequest(jobs.wait_for, (str(end),), LIMITS)
    waiting = [
        threading.Thread(target=workers.perform, args=(tenant, wait)) for tenant in ("a", "b")
    ]
    for thread in waiting:
        thread.start()
    until(lambda: len(workers._busy) == 2, SECONDS, "two busy workers")
    end.touch()
    for thread in waiting:
        thread.join()
    workers.release_idle(0.0)
    assert len(workers._idle) == 1
    assert workers.statistics.ends[WorkerEnd.SURPLUS] == 1


@pytest.mark.slow
def test_idle_worker_returns_freed_memory(workers: Workers) -> None:
    job = JobRequest(jobs.free_memory_below_other, (), LIMITS)
    pid, freed = workers.perform("tenant", job).content
    until(lambda: jobs.private_bytes(pid) < freed, 4 * worker.IDLE_SECONDS, "freed memory")


def test_server_releases_memory_once_it_is_idle_after_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released: list[float] = []
    used = iter([0.0, 3.0, 3.1, 3.1, 3.2, 9.0, 9.1, 9.1])
    monkeypatch.setattr(idle_memory, "running_workers", list[Workers])
    monkeypatch.setattr(idle_memory, "release_freed_memory", lambda: released.append(1.0))
    monkeypatch.setattr("time.process_time", lambda: next(used))
    memory = IdleMemory()
    counts = []
    for _ in range(5):
        memory.release()
        counts.append(len(released))
    # Busy, idle, still idle, busy, idle.
    assert counts == [0, 1, 1, 1, 2]
