"""Pool of worker processes, with real processes."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import traceback
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.worker_processes.messages import JobLimits
from common.worker_processes.pool import WorkerPool
from common.worker_processes.program import WorkerProgram
from common.worker_processes.workers import (
    JobCrashed,
    JobFailed,
    LimitExceeded,
    Outcome,
    WorkerLost,
)
from tests.common.worker_processes import jobs
from tests.paths import ROOT
from tests.processes import is_running
from tests.waiting import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]
SECONDS = 60.0  # more than any test takes
MIB = 2**20
LIMITS = JobLimits(
    cpu_seconds=SECONDS, wall_seconds=SECONDS, memory_bytes=128 * MIB, result_bytes=MIB
)
PROGRAM = WorkerProgram(preload=(jobs.__name__,), classes=jobs.CLASSES, nice=5)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool("test", PROGRAM, workers=2)
    yield made
    made.stop()


async def test_a_function_runs_in_another_process(pool: WorkerPool) -> None:
    found = await pool.run("a", LIMITS, jobs.process_id)
    assert found != os.getpid()
    assert found in pool.process_ids()


async def test_a_worker_runs_one_job_after_another(pool: WorkerPool) -> None:
    found = {await pool.run("a", LIMITS, jobs.process_id) for _ in range(5)}
    assert len(found) == 1
    assert pool.statistics.starts == 1
    assert pool.statistics.jobs == {Outcome.DONE: 5}


@pytest.mark.parametrize("size", [0, 1000, 65_536, 5_000_000])
async def test_bytes_of_any_size_arrive_as_bytes(size: int, pool: WorkerPool) -> None:
    assert await pool.run("a", LIMITS, jobs.length, bytes(size)) == ("bytes", size)


async def test_results_are_instances_of_listed_classes(pool: WorkerPool) -> None:
    found = await pool.run("a", LIMITS, jobs.make_pair, b"some")
    assert found == jobs.Pair(jobs.Point(7, jobs.Colour.RED), (b"some", b"some"))
    assert type(found.first.colour) is jobs.Colour


async def test_a_listed_exception_is_raised_again_without_frames_of_the_job(
    pool: WorkerPool,
) -> None:
    with pytest.raises(jobs.BadValue, match="the value is 7") as found:
        await pool.run("a", LIMITS, jobs.reject, "the value")
    assert (found.value.name, found.value.value) == ("the value", 7)
    assert pool.statistics.jobs == {Outcome.REJECTED: 1}


async def test_a_rejection_holds_no_argument_of_its_job(pool: WorkerPool) -> None:
    with pytest.raises(jobs.BadValue) as found:
        await pool.run("a", LIMITS, jobs.reject, "the value")
    frames = [frame for frame, _ in traceback.walk_tb(found.value.__traceback__)]
    own = [frame for frame in frames if frame.f_code.co_filename.endswith("pool.py")]
    assert own
    assert not [frame for frame in own if "args" in frame.f_locals or "work" in frame.f_locals]


async def test_a_rejection_frees_the_arguments_without_a_garbage_collection(
    pool: WorkerPool,
) -> None:
    class LocalObject:
        """Object of the frame that the exception passes."""

    async def call(caller: LocalObject) -> weakref.ref[LocalObject]:
        try:
            await pool.run("a", LIMITS, jobs.reject, "the value")
        except jobs.BadValue:
            return weakref.ref(caller)
        raise AssertionError

    gc.collect()
    gc.disable()
    try:
        found = await call(LocalObject())
        assert found() is None
    finally:
        gc.enable()


async def test_another_exception_has_the_traceback_of_the_worker(pool: WorkerPool) -> None:
    with pytest.raises(JobFailed, match=r"jobs\.Unlisted: not to be raised"):
        await pool.run("a", LIMITS, jobs.fail)
    assert await pool.run("a", LIMITS, jobs.length, b"") == ("bytes", 0)


@pytest.mark.parametrize("job", [jobs.unlisted_value, jobs.forge])
async def test_a_result_of_another_class_is_a_failure(job: object, pool: WorkerPool) -> None:
    with pytest.raises(JobFailed, match="A result must not contain"):
        await pool.run("a", LIMITS, job)  # type: ignore[arg-type]


async def test_result_over_its_limit_is_not_sent(pool: WorkerPool) -> None:
    with pytest.raises(LimitExceeded) as found:
        await pool.run("a", LIMITS, jobs.make_bytes, 2 * MIB)
    assert found.value.outcome is Outcome.RESULT_LIMIT


@pytest.mark.slow
async def test_the_kernel_ends_a_job_at_its_cpu_time_in_compiled_code(pool: WorkerPool) -> None:
    with pytest.raises(LimitExceeded) as found:
        await pool.run("a", replace(LIMITS, cpu_seconds=1.0), jobs.compute)
    assert found.value.outcome is Outcome.CPU_LIMIT
    assert pool.statistics.jobs == {Outcome.CPU_LIMIT: 1}


@pytest.mark.slow
async def test_the_cpu_time_of_earlier_jobs_does_not_count(pool: WorkerPool) -> None:
    limits = replace(LIMITS, cpu_seconds=1.0)
    found = {await pool.run("a", limits, jobs.use_cpu, 0.8) for _ in range(3)}
    assert len(found) == 1


async def test_a_job_that_waits_ends_at_its_wall_time(pool: WorkerPool) -> None:
    first = await pool.run("a", LIMITS, jobs.process_id)
    with pytest.raises(LimitExceeded) as found:
        await pool.run("a", replace(LIMITS, wall_seconds=0.2), jobs.sleep)
    assert found.value.outcome is Outcome.WALL_LIMIT
    assert not is_running(first)
    assert await pool.run("a", LIMITS, jobs.process_id) != first


@pytest.mark.slow
@pytest.mark.parametrize("job", [jobs.allocate, jobs.allocate_and_abort])
async def test_a_job_that_needs_too_much_memory_ends(job: object, pool: WorkerPool) -> None:
    with pytest.raises(LimitExceeded) as found:
        await pool.run("a", replace(LIMITS, memory_bytes=512 * MIB), job)  # type: ignore[arg-type]
    assert found.value.outcome is Outcome.MEMORY_LIMIT
    assert await pool.run("a", LIMITS, jobs.length, b"") == ("bytes", 0)


async def test_a_worker_that_keeps_memory_is_replaced_after_its_job(pool: WorkerPool) -> None:
    first = await pool.run("a", LIMITS, jobs.process_id)
    assert await pool.run("a", LIMITS, jobs.keep_memory, 64 * MIB) == 64 * MIB
    assert not is_running(first)
    assert await pool.run("a", LIMITS, jobs.process_id) != first


async def test_limits_do_not_outlive_their_job(pool: WorkerPool) -> None:
    await pool.run("a", replace(LIMITS, cpu_seconds=2.0), jobs.length, b"")
    cpu, memory = await pool.run("a", replace(LIMITS, cpu_seconds=1000.0), jobs.soft_limits)
    assert 1000 <= cpu <= 1010
    assert memory > 128 * MIB


async def test_a_job_that_crashes_two_workers_has_crashed(pool: WorkerPool) -> None:
    with pytest.raises(JobCrashed):
        await pool.run("a", LIMITS, jobs.crash)
    assert pool.statistics.jobs == {Outcome.CRASHED: 1}
    assert pool.statistics.starts == 3  # one for each try, and one for the next job


async def test_a_job_runs_again_after_one_crash(pool: WorkerPool, tmp_path: Path) -> None:
    found = await pool.run("a", LIMITS, jobs.crash_once, str(tmp_path / "marker"))
    assert found == "survived"


async def test_job_after_the_kill_of_an_idle_worker_succeeds(pool: WorkerPool) -> None:
    first = await pool.run("a", LIMITS, jobs.process_id)
    os.kill(first, signal.SIGKILL)
    assert await pool.run("a", LIMITS, jobs.process_id) != first


async def test_a_job_whose_workers_end_twice_is_lost(pool: WorkerPool) -> None:
    with pytest.raises(WorkerLost, match="Try again later"):
        await pool.run("a", LIMITS, jobs.exit_silently)
    assert pool.statistics.jobs == {Outcome.LOST: 1}


async def test_a_program_that_cannot_start_loses_its_jobs() -> None:
    pool = WorkerPool("broken", WorkerProgram(("no.such.module",), (), 0), workers=2)
    with pytest.raises(WorkerLost):
        await pool.run("a", LIMITS, jobs.process_id)
    assert pool.process_ids() == []


async def test_a_process_that_cannot_be_made_loses_jobs_until_it_can(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as context:
        context.setattr(sys, "executable", "/no/such/program")
        pool.start()
        with pytest.raises(WorkerLost):
            await pool.run("a", LIMITS, jobs.process_id)
    assert "could be started: [Errno 2]" in caplog.text
    assert await pool.run("a", LIMITS, jobs.length, b"") == ("bytes", 0)


async def test_output_of_a_job_is_not_read_as_a_reply(pool: WorkerPool) -> None:
    assert await pool.run("a", LIMITS, jobs.print_something) == "printed"


async def test_a_worker_has_no_descriptors_but_its_pipes_and_the_error_output(
    pool: WorkerPool, tmp_path: Path
) -> None:
    with (tmp_path / "file").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        found = await pool.run("a", LIMITS, jobs.open_files)
    named = {name for number, name in found.items() if number not in {1, 2}}
    assert named - {"/dev/null"} == {name for name in named if name.startswith("pipe:")}
    assert len(found) <= 6
    assert found[1] == found[2]


async def test_a_worker_has_no_secrets_in_its_environment(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLAMEWATCH_SECRET_KEY", "secret")
    monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@host/database")
    assert "secret" not in str(await pool.run("a", LIMITS, jobs.environment))


async def test_a_worker_has_a_lower_priority(pool: WorkerPool) -> None:
    assert await pool.run("a", LIMITS, jobs.priority) == min(19, os.nice(0) + 5)


async def test_jobs_of_two_tenants_run_at_once(pool: WorkerPool, tmp_path: Path) -> None:
    found = await asyncio.gather(
        pool.run("a", LIMITS, jobs.meet, str(tmp_path), "one", "other"),
        pool.run("b", LIMITS, jobs.meet, str(tmp_path), "other", "one"),
    )
    assert [*found] == ["one", "other"]


async def test_second_job_of_a_tenant_waits_while_other_tenants_run(
    pool: WorkerPool, tmp_path: Path
) -> None:
    path = str(tmp_path / "end")
    long = [asyncio.create_task(pool.run("a", LIMITS, jobs.wait_for, path)) for _ in range(4)]
    for _ in range(3):
        assert await pool.run("b", LIMITS, jobs.length, b"") == ("bytes", 0)
    assert not any(task.done() for task in long)
    assert pool._threads.waiting == 3
    await asyncio.to_thread(Path(path).touch)
    await asyncio.gather(*long)


async def test_a_cancelled_job_does_not_start(pool: WorkerPool, tmp_path: Path) -> None:
    path, marker = str(tmp_path / "end"), tmp_path / "marker"
    running = asyncio.create_task(pool.run("a", LIMITS, jobs.wait_for, path))
    waiting = asyncio.create_task(pool.run("a", LIMITS, jobs.crash_once, str(marker)))
    while pool._threads.waiting < 1:  # noqa: ASYNC110  there is no event
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.to_thread(Path(path).touch)
    await running
    assert not await asyncio.to_thread(marker.exists)


async def test_start_makes_two_workers_before_they_are_needed(pool: WorkerPool) -> None:
    pool.start()
    started = {*pool.process_ids()}
    assert len(started) == 2
    assert await pool.run("a", LIMITS, jobs.process_id) in started
    assert pool.statistics.starts == 2


async def test_stop_ends_idle_and_busy_workers(pool: WorkerPool) -> None:
    pool.start()
    started = pool.process_ids()
    running = asyncio.create_task(pool.run("a", LIMITS, jobs.sleep))
    while not pool._busy:  # noqa: ASYNC110  there is no event
        await asyncio.sleep(0.01)
    await asyncio.to_thread(pool.stop)
    until(lambda: not any(map(is_running, started)), SECONDS, "the end of the workers")
    running.cancel()


_PARENT = """
import asyncio, sys
from tests.common.worker_processes.test_pool import LIMITS, PROGRAM, WorkerPool
from tests.common.worker_processes import jobs

async def main():
    pool = WorkerPool("test", PROGRAM, workers=2)
    idle = await pool.run("a", LIMITS, jobs.process_id)
    pool.start()
    tasks = [asyncio.create_task(pool.run("a", LIMITS, jobs.{job}))]
    while not pool._busy:
        await asyncio.sleep(0.01)
    print(*pool.process_ids(), flush=True)
    await asyncio.gather(*tasks)

asyncio.run(main())
"""


@pytest.mark.parametrize("job", ["sleep", "compute"])
def test_workers_end_when_their_parent_is_killed(job: str) -> None:
    """Check also a worker that holds the GIL in compiled code."""
    command = [sys.executable, "-c", _PARENT.replace("{job}", job)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(is_running, workers))
        parent.kill()
        parent.wait()
    until(lambda: not any(map(is_running, workers)), 10.0, "the end of the workers")
