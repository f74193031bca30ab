"""Pool of decoding threads: its size, and its survival of errors."""

import threading
from functools import partial

import pytest

from ingest.uploads.decode_pool import LARGE_BYTES, THREADS, Pool, submit

SECONDS = 30.0  # more than any test takes


def meet(meeting: threading.Barrier) -> None:
    meeting.wait(SECONDS)


def wait_for(event: threading.Event) -> None:
    event.wait(SECONDS)


def test_as_many_works_as_threads_are_under_way_at_once() -> None:
    pool, meeting = Pool("some", 2), threading.Barrier(3)
    for _ in range(2):
        pool.submit(partial(meet, meeting))
    meeting.wait(SECONDS)  # raises if a thread does not arrive


def test_work_is_done_in_its_order_where_there_is_one_thread() -> None:
    pool, done, names = Pool("one", 1), list[int](), set[str]()
    last = threading.Event()

    def work(number: int) -> None:
        done.append(number)
        names.add(threading.current_thread().name)

    for number in range(100):
        pool.submit(partial(work, number))
    pool.submit(last.set)
    assert last.wait(SECONDS)
    assert done == list(range(100))
    assert names == {"one_0"}


def test_an_error_is_logged_and_the_thread_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    pool, after = Pool("one", 1), threading.Event()

    def fail() -> None:
        raise ValueError("no such luck")

    pool.submit(fail)
    pool.submit(after.set)
    assert after.wait(SECONDS)
    assert "no such luck" in caplog.text


def test_small_profiles_do_not_wait_for_large_ones() -> None:
    release, small = threading.Event(), threading.Event()
    for _ in range(THREADS + 1):
        submit(partial(wait_for, release), LARGE_BYTES)
    submit(small.set, LARGE_BYTES - 1)
    assert small.wait(SECONDS)
    release.set()
