"""Threads for SQL of asynchronous code.

`sync_to_async` is not used: in its thread-sensitive mode one thread would run every query of the
process, and its other mode has no bound.
"""

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

from common.thread_pool import PoolFull, ThreadPool

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 4
MAX_JOBS = 10_000


class DatabasePoolFull(Exception):
    """The queue for the database threads is full; the client should retry later (status 503)."""


async def run(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function that uses the database in one of the pool's threads.

    Cancelling the caller removes the call from the queue; a call that has started runs to its
    end. Raise DatabasePoolFull, and the exceptions of the function.
    """
    work = partial(function, *args, **kwargs)
    try:
        return await _sql.run(lambda: with_usable_connection(work))
    except PoolFull as full:
        raise DatabasePoolFull(
            f"{full.limit} queries are already waiting for the database, which is the limit. "
            "Try again later."
        ) from None


def with_usable_connection(work: Callable[[], R]) -> R:
    """Call `work` with this thread's database connection.

    The thread keeps its connection. One that the database has closed since the last call is
    replaced before the first statement, and one that was left in a transaction before `work`.
    """
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()


_sql = ThreadPool("flamewatch-sql", THREADS, max_jobs=MAX_JOBS)
