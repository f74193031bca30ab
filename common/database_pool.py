"""Thread pool with a bounded queue for database work of asynchronous code.

`sync_to_async` is not used: in its thread-sensitive mode one thread would run every query of the
process, and its other mode has no bound.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 4
MOST_WAITING = 10_000


class DatabasePoolFull(Exception):
    """The queue for the database threads is full; the client should retry later (status 503)."""


class DatabasePool:
    """Pool of threads that may use the database. Usable from any event loop or thread."""

    def __init__(self, name: str, threads: int, most_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name)
        self._most_waiting = most_waiting
        self._waiting = 0
        self._lock = threading.Lock()

    def submit(self, work: Callable[[], R]) -> "Future[R]":
        """Queue the work. Raise DatabasePoolFull."""
        self._take_place()
        future = self._pool.submit(with_fresh_connection, work)
        # Called for finished work and for work that is cancelled in the queue.
        future.add_done_callback(self._leave)
        return future

    def _take_place(self) -> None:
        with self._lock:
            if self._waiting >= self._most_waiting:
                most = self._most_waiting
                raise DatabasePoolFull(
                    f"{most} queries wait for the database already. Try again later."
                )
            self._waiting += 1

    def _leave(self, _future: "Future[R]") -> None:
        with self._lock:
            self._waiting -= 1


async def run(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function that uses the database in one of the pool's threads.

    Cancelling the caller removes the call from the queue; a call that has started runs to its
    end. Raise DatabasePoolFull, and the exceptions of the function.
    """
    return await asyncio.wrap_future(_sql.submit(partial(function, *args, **kwargs)))


def with_fresh_connection(work: Callable[[], R]) -> R:
    """Call `work` with a usable database connection.

    Threads outlive requests, so a broken connection must not be reused for the next query.
    """
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()


_sql = DatabasePool("flamewatch-sql", THREADS, MOST_WAITING)
