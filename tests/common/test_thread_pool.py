"""ThreadPool: its size, its order, its limit, and its survival of errors."""

import asyncio
import threading
from functools import partial

import pytest

from common.thread_pool import PoolFull, ThreadPool
from tests.waiting import until

SECONDS = 30.0  # more than any test takes


def test_every_thread_runs_a_job_at_once() -> None:
    pool, meeting = ThreadPool("some", 2), threading.Barrier(3)
    for _ in range(2):
        pool.start(lambda: meeting.wait(SECONDS))
    meeting.wait(SECONDS)  # raises if a thread does not arrive


def test_threads_are_started_only_when_no_other_is_idle() -> None:
    pool = ThreadPool("few", 4)
    names = {pool.submit(lambda: threading.current_thread().name).result(SECONDS)}
    for _ in range(20):
        until(lambda: pool._idle._value > 0, SECONDS, "an idle thread")
        names.add(pool.submit(lambda: threading.current_thread().name).result(SECONDS))
    assert names == {"few_0"}
    assert pool._thread_count == 1


def test_one_thread_runs_jobs_in_their_order() -> None:
    pool, done, names = ThreadPool("one", 1), list[int](), set[str]()
    last = threading.Event()

    def job(number: int) -> None:
        done.append(number)
        names.add(threading.current_thread().name)

    for number in range(100):
        pool.start(partial(job, number))
    pool.start(last.set)
    assert last.wait(SECONDS)
    assert done == list(range(100))
    assert names == {"one_0"}


def test_an_error_of_a_job_is_logged_and_the_thread_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pool = ThreadPool("one", 1)

    def fail() -> None:
        raise ValueError("no such luck")

    pool.start(fail)
    assert pool.submit(lambda: 7).result(SECONDS) == 7
    assert "no such luck" in caplog.text


def test_an_error_of_submitted_work_is_raised_by_its_future() -> None:
    pool = ThreadPool("one", 1)
    with pytest.raises(ValueError, match="invalid literal"):
        pool.submit(lambda: int("x")).result(SECONDS)
    assert pool.submit(lambda: int("5")).result(SECONDS) == 5


def test_jobs_over_the_limit_are_rejected_until_one_ends_or_is_cancelled() -> None:
    pool, release = ThreadPool("one", 1, max_jobs=2), threading.Event()
    running = pool.submit(lambda: release.wait(SECONDS))
    queued = pool.submit(lambda: 1)
    with pytest.raises(PoolFull, match="2 jobs"):
        pool.submit(lambda: 2)
    assert queued.cancel()
    later = pool.submit(lambda: 3)
    release.set()
    assert (running.result(SECONDS), later.result(SECONDS)) == (True, 3)


async def test_work_whose_caller_is_cancelled_is_skipped() -> None:
    pool, release, ran = ThreadPool("one", 1), threading.Event(), list[int]()
    first = asyncio.create_task(pool.run(lambda: release.wait(SECONDS)))
    second = asyncio.create_task(pool.run(lambda: ran.append(2)))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    release.set()
    assert await first
    assert await pool.run(lambda: 3) == 3
    assert ran == []


def test_pool_threads_do_not_keep_the_process_alive() -> None:
    pool = ThreadPool("daemons", 1)
    assert pool.submit(lambda: threading.current_thread().daemon).result(SECONDS)
